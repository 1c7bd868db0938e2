"""The JUnit document of a live test."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from fluid_build.contract.live import CheckResult, ExposeResult, LiveResult, junit_xml
from fluid_build.contract.live.results import Status


def result(*checks: CheckResult, expose: str = "orders") -> LiveResult:
    exposed = ExposeResult(expose, "Orders", 3, checks)
    return LiveResult("shop", "Shop", "shop", "duckdb", (exposed,))


def check(id_: str = "r", status: Status = "passed", severity: str = "error") -> CheckResult:
    return CheckResult(
        id_,
        "rule",
        "uniqueness",
        severity,  # type: ignore[arg-type]
        status,
        expected="every row",
        observed="1 of 3 rows",
        reason="it's empty",
        sql='SELECT "a" FROM t',
    )


def test_only_errors_are_failures() -> None:
    """What is broken below the severity error, and what was not checked, is skipped and says so."""
    checks = (
        check("kept"),
        check("broken", "failed"),
        check("worse", "failed", "critical"),
        check("warned", "failed", "warn"),
        check("open", "not_checked"),
    )
    root = ElementTree.fromstring(junit_xml(result(*checks)))
    suite = root.find("testsuite")
    assert suite is not None
    assert suite.attrib == {
        "name": "orders",
        "tests": "5",
        "failures": "2",
        "errors": "0",
        "skipped": "2",
    }
    outcomes = {
        case.attrib["name"].split()[0]: [part.tag for part in case]
        for case in suite.iter("testcase")
    }
    assert outcomes == {
        "kept": [],
        "broken": ["failure"],
        "worse": ["failure"],
        "warned": ["skipped"],
        "open": ["skipped"],
    }
    messages = [part.attrib["message"] for part in suite.iter("skipped")]
    assert messages[0].startswith("warning: expected every row")
    assert messages[1] == "not checked: it's empty"


@given(text=st.text(st.characters(), max_size=20))
def test_any_text_makes_a_document_that_can_be_read(text: str) -> None:
    """Names may hold markup, control characters and halves of characters."""
    root = ElementTree.fromstring(junit_xml(result(check(text, "failed"), expose=text)))
    case = root.find("testsuite/testcase")
    assert case is not None
    if text.isalnum():
        assert case.attrib["classname"] == text
