"""``python -m tests.chaos --minutes 10 --seed 7 --workers 3``"""

from __future__ import annotations

import sys

from tests.chaos.options import parse
from tests.chaos.performance import perform

if __name__ == "__main__":
    asked = parse(sys.argv[1:])
    print(f"seed {asked.seed}, artifacts in {asked.folder}", flush=True)
    holds = perform(asked)
    # A mutation that nobody notices is what fails then.
    sys.exit(0 if holds != bool(asked.mutation) else 1)
