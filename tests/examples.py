"""How many examples Hypothesis tries of the properties whose examples cost the most."""

from hypothesis import settings

from tests.tiers import EXAMPLES, Tier

dear_property = settings(
    max_examples=300 if settings.default.max_examples == EXAMPLES[Tier.ALL] else 5
)
"""Five examples, and 300 in ``make test-all``: each of them builds whole databases."""
