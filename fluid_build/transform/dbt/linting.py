"""What sqlfluff asks of the project: the conventions that its SQL is written by.

Rules: https://docs.sqlfluff.com/en/stable/reference/rules.html. A rule that's left out is a choice
of style, or finds what dbt and the source wrote.
"""

from collections.abc import Mapping

from fluid_build.transform.dbt.targets import Target

CONFIG_FILE, IGNORE_FILE = ".sqlfluff", ".sqlfluffignore"
_LEFT_OUT: Mapping[str, str] = {
    "AL10": "a source that is read by a query of its own is a subquery, which dbt gives no name",
    "CP03": "functions are spelled as in the database's manual, whose own are lower case",
    "LT08": "common table expressions follow each other without a blank line",
    "LT09": "a single target may follow SELECT",
    "LT12": "dbt leaves out the last line break",
    "LT13": "dbt leaves a line break where a macro is called",
    "RF04": "columns are called as in the source, which may be a word of SQL",
    "RF06": "dbt quotes the names of relations, and columns of the source have its own spelling",
    "ST05": "a join may have a subquery that nothing else reads",
    "ST06": "columns have the order of the contract",
    "ST09": "a join begins with the relation that it adds",
}


def lint_files(target: Target) -> dict[str, str]:
    """Return the settings of sqlfluff by their paths."""
    reasons = "".join(f"# {rule}: {reason}\n" for rule, reason in _LEFT_OUT.items())
    config = (
        f"[sqlfluff]\ndialect = {target}\ntemplater = dbt\nmax_line_length = 100\n"
        f"{reasons}exclude_rules = {', '.join(_LEFT_OUT)}\n\n"
        "[sqlfluff:rules:capitalisation.keywords]\ncapitalisation_policy = upper\n\n"
        # The conditions of a join are below each other, as those of WHERE are.
        "[sqlfluff:indentation]\nindented_on_contents = false\n\n"
        # A type has the spelling that the source's database gives it: DECIMAL(8,2).
        "[sqlfluff:layout:type:comma]\nspacing_after = any\n"
    )
    # The calendar is a macro of dbt's own.
    return {CONFIG_FILE: config, IGNORE_FILE: "models/semantic/\n"}
