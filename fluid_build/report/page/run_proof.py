"""The proof as the page shows it: the verdict, and what each table's comparison returned.

Nothing is green unless it was compared and holds, and every table with it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.report.page.content import PageContent
from fluid_build.text import counted, listed_up_to
from fluid_build.transform.proof.differing_rows import DifferingRow
from fluid_build.transform.proof.figure_checks import FigureProof
from fluid_build.transform.proof.proof import Proof, TableProof

_MOST_LOSSES = 50
"""Tables whose losses are shown in full; proof.json has all of them."""
_MOST_FIGURES = 1_000
"""Compared figures in the page: those of a hundred tables."""
_MOST_EDITED = 5
"""Edited files that are named in the verdict."""
_IDENTIFYING = 2
"""Columns of a row that are shown to identify it: keys mostly come first."""
_MOST_COLUMNS = 8
"""Columns of differing rows that have room next to each other."""
_LABELS = {"proven": "same", "empty": "empty", "lost": "lost", "not compared": "not compared"}


@dataclass(frozen=True, slots=True)
class VerdictBanner:
    """The verdict on all tables: a word, a sentence, and its style (good, warn or bad)."""

    word: str
    sentence: str
    style: str


@dataclass(frozen=True, slots=True)
class ProofRow:
    """A table's proof as a row, with where the page shows the table."""

    proof: TableProof
    address: str
    label: str
    style: str
    holding: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a differing row; None is a null."""

    value: str | None
    differs: bool


@dataclass(frozen=True, slots=True)
class DifferingCells:
    """A row that one side has more often than the other, as cells in the columns of its loss."""

    side: str
    times: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """What differs in a table. ``left`` columns of its differing rows aren't shown."""

    proof: TableProof
    address: str
    failed: tuple[FigureProof, ...]
    columns: tuple[str, ...]
    left: int
    rows: tuple[DifferingCells, ...]


@dataclass(frozen=True, slots=True)
class ProofPart:
    """The proof of a page: the verdict, a row for each table, and the losses.

    ``figures`` are compared figures with their tables, and ``hidden_figures`` and
    ``hidden_losses`` count what isn't listed. ``remarks`` say what was compared in another way.
    """

    verdict: VerdictBanner
    rows: tuple[ProofRow, ...]
    losses: tuple[Loss, ...]
    hidden_losses: int
    figures: tuple[tuple[str, FigureProof], ...]
    hidden_figures: int
    remarks: tuple[str, ...]
    has_rebuilt: bool
    has_checks: bool


def proof_part(content: PageContent, proof: Proof) -> ProofPart:
    """Return what a page shows of a proof."""
    verdict = verdict_banner(content, proof)
    addresses = content.table_addresses
    lost = [table for table in proof.tables if table.verdict == "lost"]
    figures = [(table.table, figure) for table in proof.tables for figure in table.checks]
    return ProofPart(
        verdict,
        tuple(_row(table, addresses, verdict) for table in proof.tables),
        tuple(_loss(table, addresses) for table in lost[:_MOST_LOSSES]),
        max(0, len(lost) - _MOST_LOSSES),
        tuple(figures[:_MOST_FIGURES]),
        max(0, len(figures) - _MOST_FIGURES),
        tuple(_remarks(proof.tables)),
        any(table.rebuilt is not None for table in proof.tables),
        bool(figures),
    )


def verdict_banner(content: PageContent, proof: Proof) -> VerdictBanner:
    """Return the verdict on a source as a page shows it: green for all of its tables or not."""
    if proof.verdict == "lost":
        return VerdictBanner("Lost", proof.reason, "bad")
    if proof.verdict == "not proven":
        return VerdictBanner("Not proven", proof.reason, "warn")
    if not _is_consistent(content, proof):
        sentence = "proof.json calls tables proven that its own comparison doesn't show to be."
        return VerdictBanner("Not proven", sentence, "warn")
    sentence = f"{_agreement(proof.tables)}."
    if proof.sampled:
        tables = counted(len(proof.sampled), "table")
        sentence = f"{sentence} Only a sample of {tables} was read."
        return VerdictBanner("Holds in the sample", sentence, "warn")
    edited = content.built.edited if content.built else ()
    if edited:
        names = listed_up_to(_MOST_EDITED, edited)
        sentence = f"{sentence} Edited files weren't compared: {names}."
        return VerdictBanner("Proven as forged", sentence, "warn")
    if content.view.profile.skipped:
        tables = counted(len(content.view.profile.skipped), "further table")
        return VerdictBanner(
            "Proven in part", f"{sentence} {tables} couldn't be read at all.", "warn"
        )
    return VerdictBanner("Proven", sentence, "good")


def _is_consistent(content: PageContent, proof: Proof) -> bool:
    """Return whether a proof that holds is of every table, and so does each of its comparisons.

    A forge writes no other, but the file of a folder may have been edited.
    """
    compared = {table.table for table in proof.tables}
    return compared >= {table.name for table in content.view.tables} and all(
        table.verdict in ("proven", "empty")
        and not (table.missing or table.unexpected or table.type_differences)
        and all(figure.holds for figure in table.checks)
        and (table.nested is None or table.nested.holds)
        for table in proof.tables
    )


def _agreement(tables: Sequence[TableProof]) -> str:
    """Return how many tables of a proof that holds were compared in which way."""
    empty = sum(table.verdict == "empty" for table in tables)
    exact = sum(table.verdict == "proven" and table.types_equal is True for table in tables)
    by_figures = len(tables) - empty - exact
    of_all = f" of {counted(len(tables), 'table')}"
    parts = [f"{exact:,}{of_all} match the source row by row"] if exact else []
    if by_figures:
        parts.append(
            f"{by_figures:,}{'' if exact else of_all} agree in every figure that was compared"
        )
    if empty:
        parts.append(f"{empty:,} {'is' if empty == 1 else 'are'} empty on both sides")
    return ", ".join(parts)


def _row(table: TableProof, addresses: dict[str, str], verdict: VerdictBanner) -> ProofRow:
    styles = {"proven": verdict.style if verdict.style == "good" else "", "lost": "bad"}
    styles["not compared"] = "warn"
    return ProofRow(
        table,
        addresses.get(table.table, ""),
        _LABELS[table.verdict],
        styles.get(table.verdict, ""),
        sum(figure.holds for figure in table.checks),
    )


def _loss(table: TableProof, addresses: dict[str, str]) -> Loss:
    columns, left = _shown_columns(table.differing)
    return Loss(
        table,
        addresses.get(table.table, ""),
        tuple(figure for figure in table.checks if not figure.holds),
        columns,
        left,
        tuple(
            DifferingCells(
                row.side,
                row.times,
                tuple(Cell(row.values.get(name), name in row.differs) for name in columns),
            )
            for row in table.differing
        ),
    )


def _shown_columns(rows: Sequence[DifferingRow]) -> tuple[tuple[str, ...], int]:
    """Return the first columns and those that differ, and how many others there are."""
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    differing = [name for name in names if any(name in row.differs for row in rows)]
    chosen = dict.fromkeys((*names[:_IDENTIFYING], *differing)) if differing else names
    shown = tuple(chosen)[:_MOST_COLUMNS]
    return shown, len(names) - len(shown)


def _remarks(tables: Sequence[TableProof]) -> Iterator[str]:
    by_value = [f"{table.table}.{column}" for table in tables for column in table.by_value]
    if by_value:
        yield f"Compared by value, not by original text: {', '.join(by_value)}."
    by_sums = [table.table for table in tables if table.compared == "sums"]
    if by_sums:
        yield f"Compared by the sums of row hashes: {', '.join(by_sums)}."
    for table in tables:
        for lines in table.text.left_out if table.text else ():
            yield f"Lines of {table.table} that aren't rows: {lines}."
        if table.nested and table.nested.holds:
            yield f"Nested data of {table.table}: {table.nested.sentence}."
