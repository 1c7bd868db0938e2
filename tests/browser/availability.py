"""What the tests in a browser need from outside, and what to do where it's missing."""

import os
from typing import NoReturn

import pytest

REQUIRED = "TESTS_REQUIRE_BROWSER"
"""The environment variable with which a missing browser is a failure; ``.ci/run`` sets it."""

NOT_TESTED = "not tested in a browser: "
"""How the reasons begin, by which the summary of a test run finds them."""


def skip_or_fail(reason: str) -> NoReturn:
    """Skip the test, or fail it where the environment says that nothing may be missing."""
    if os.environ.get(REQUIRED):
        pytest.fail(NOT_TESTED + reason, pytrace=False)
    pytest.skip(NOT_TESTED + reason)
