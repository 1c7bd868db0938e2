"""The result of a live test as JUnit XML, which build servers read.

One test suite an expose, one test case a check. The format knows no warnings: what is broken
below the severity error is a skipped case that says so, and so is what was not checked.
"""

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fluid_build.contract.live.results import CheckResult, ExposeResult, LiveResult

# XML 1.0 has no way to write these, escaped or not: https://www.w3.org/TR/xml/#charsets
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(result: LiveResult) -> bytes:
    """Return the document in UTF-8, without times: the same result gives the same bytes."""
    checks = list(result.checks)
    root = Element("testsuites", _numbers(result.contract_id, checks))
    for expose in result.exposes:
        _suite(root, expose)
    indent(root)
    xml: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _suite(root: Element, expose: ExposeResult) -> None:
    suite = SubElement(root, "testsuite", _numbers(expose.expose_id, expose.checks))
    for check in expose.checks:
        case = SubElement(
            suite,
            "testcase",
            {"classname": _text(expose.expose_id), "name": _text(f"{check.id} ({check.type})")},
        )
        _outcome(case, check)


def _numbers(name: str, checks: "list[CheckResult] | tuple[CheckResult, ...]") -> dict[str, str]:
    failures = sum(check.fails for check in checks)
    skipped = sum(check.status != "passed" and not check.fails for check in checks)
    return {
        "name": _text(name),
        "tests": str(len(checks)),
        "failures": str(failures),
        "errors": "0",
        "skipped": str(skipped),
    }


def _outcome(case: Element, check: CheckResult) -> None:
    outcome = f"expected {check.expected}, observed {check.observed}"
    if check.fails:
        failure = SubElement(
            case, "failure", {"message": _text(outcome), "type": _text(check.severity)}
        )
        failure.text = _text("\n".join(filter(None, (check.description, check.sql)))) or None
    elif check.status == "failed":
        kind = "warning" if check.warns else "note"
        SubElement(case, "skipped", {"message": _text(f"{kind}: {outcome}")})
    elif check.status == "not_checked":
        SubElement(case, "skipped", {"message": _text(f"not checked: {check.reason}")})


def _text(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)
