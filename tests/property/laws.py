"""How the laws are tried: the same examples on every machine, no clock."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "law",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

law = settings.get_profile("law")

race = settings(law, phases=[Phase.explicit, Phase.generate])
"""Where the database decides who is first, a smaller example is another story."""
