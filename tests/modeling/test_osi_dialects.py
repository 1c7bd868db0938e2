"""OSI expressions in further dialects: what is translated, and what is left alone."""

import subprocess
import sys

import pytest
import sqlglot

from fluid_build.modeling.osi import Dataset, osi_document, osi_field
from fluid_build.modeling.osi_dialects import translated, with_dialects


@pytest.mark.parametrize(
    ("expression", "databricks"),
    [
        ('"a""b"', '`a"b`'),
        ('"a`b"', "`a``b`"),
        ('AVG("t"."a")', "AVG(`t`.`a`)"),
        ("COUNT(*)", "COUNT(*)"),
        (
            'PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "a")',
            "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY `a`)",
        ),
        ("DATE_TRUNC('hour', \"a\")", "DATE_TRUNC('HOUR', `a`)"),
        ('("a") / NULLIF((COUNT(*)), 0)', "(`a`) / NULLIF((COUNT(*)), 0)"),
    ],
)
def test_expression_is_written_for_databricks(expression: str, databricks: str) -> None:
    assert translated(expression, "ANSI_SQL", "DATABRICKS") == databricks
    sqlglot.parse_one(databricks, read="databricks")


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "(((",
        "DROP TABLE orders",
        "a; b",
        "SELECT a FROM b",
        "GRANT x",
        '{{ ref("x") }}',
        "CAST(a AS",
        'PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY "a")',
        "a" + " + a" * 10_000,
    ],
)
def test_expression_that_sqlglot_is_not_sure_of_is_left_alone(expression: str) -> None:
    assert translated(expression, "ANSI_SQL", "DATABRICKS") is None
    field = osi_field("f", expression)
    document = osi_document("m", None, [Dataset(name="d", source="d", fields=(field,))], [], [])
    mapped = with_dialects(document, ["DATABRICKS"])
    assert mapped.document == document
    assert [place for place, _ in mapped.untranslated] == ["d.f"]


def test_mapping_twice_changes_nothing() -> None:
    dataset = Dataset(name="d", source="d", fields=(osi_field("f", '"f"'),))
    once = with_dialects(osi_document("m", None, [dataset], [], [])).document
    assert with_dialects(once).document == once


def test_plain_columns_need_no_parser() -> None:
    code = (
        "import sys; from fluid_build.modeling.osi_dialects import translated;"
        "assert translated('SUM(\"a\")', 'ANSI_SQL', 'DATABRICKS') == 'SUM(`a`)';"
        "assert 'sqlglot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
