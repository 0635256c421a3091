"""What the installed SDK sends, and the proofs that each of it acts or is refused."""

import pytest

PARTS = ("of_assistants", "of_crons", "of_runs", "of_store", "of_threads")
pytest.register_assert_rewrite(*(f"tests.contract.drift.{part}" for part in PARTS))
