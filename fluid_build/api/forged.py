"""Forging from Python: a source's model, contract, dbt project and proof."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from fluid_build.api.arguments import Opening, OpenSettings, SourceLike, opening, reporting
from fluid_build.api.decisions import Decisions, followed_decisions
from fluid_build.api.html import forged_html
from fluid_build.api.profiled import ProfileResult
from fluid_build.artifacts import restore_interrupted
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.write.yaml_text import contract_yaml
from fluid_build.decisions.verdicts import Verdict
from fluid_build.errors import SourceChangedError, UsageError
from fluid_build.forging import Forged, ForgeOptions, write_forged
from fluid_build.forging import forge as forge_source
from fluid_build.forging.documents import REPORT_FILE
from fluid_build.forging.table_choice import as_decided, as_in_folder
from fluid_build.modeling.logical import LogicalModel
from fluid_build.progress import OnProgress
from fluid_build.sources.base import Source, Table
from fluid_build.sources.outside import check_outside
from fluid_build.sources.sql import quote
from fluid_build.sources.staged_views import staged_where_needed
from fluid_build.stated_options import with_values
from fluid_build.text import counted
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.proof.folder_changes import loses_decisions
from fluid_build.transform.proof.proof import Proof

if TYPE_CHECKING:
    from fluid_build.api.model_forge import Dollars
    from fluid_build.pipeline.receipt import Receipt
    from fluid_build.pipeline.stages import OnStage

# Whether the rows of a source are those that were forged.


def fingerprints(source: Source) -> dict[str, str]:
    """Return a text for each table that stays the same as long as its rows do, in any order.

    It's made of DuckDB's hashes, which are the same in every process that runs the same version.
    """
    return staged_where_needed(
        source, lambda: {table.name: _fingerprint(source, table) for table in source.tables}
    )


def check_same_rows(source: Source, expected: Mapping[str, str]) -> None:
    """Raise SourceChangedError where a table of the source isn't as expected."""
    current = fingerprints(source)
    changed = [name for name in (*expected, *current) if expected.get(name) != current.get(name)]
    if changed:
        raise SourceChangedError(
            f"{changed[0]} has changed since {source.name} was forged.",
            hint="Forge it again, with out= to write the files right away.",
        )


def _fingerprint(source: Source, table: Table) -> str:
    columns = ", ".join(quote(column.alias) for column in table.columns)
    (fingerprint,) = source.connection.execute(
        f"SELECT count(*) || ' ' || coalesce(sum(CAST(hash({columns}) AS HUGEINT)), 0)"
        f" FROM {table.relation}"
    ).fetchall()[0]
    return str(fingerprint)


_NO_DATES: Mapping[str, str] = {}


def forge(
    source: SourceLike,
    *,
    technique: str = "flat",
    variant: str | None = None,
    decisions: Decisions = (),
    target: str = "duckdb",
    project: str = "dbt",
    exact: bool = False,
    event_dates: Mapping[str, str] = _NO_DATES,
    fiscal_year_start: str | int | None = None,
    locale: str | None = None,
    business_vault: bool = False,
    redesign: Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
    model: str | None = None,
    endpoint: str | None = None,
    max_cost: "Dollars | None" = None,
    on_stage: "OnStage | None" = None,
    run_id: str | None = None,
    **options: Unpack[OpenSettings],
) -> "ForgeResult":
    """Model a source, build the model, and prove that nothing was lost.

    With ``out``, everything is written to that folder, whose own ``decisions.yaml`` is followed as
    well, and whose earlier model is continued, except for the tables and elements that ``redesign``
    names ("all" for the whole); files there that somebody edited are kept unless ``overwrite`` is
    set. Without it nothing is written, and ``save`` writes it later. The proof compares large
    tables by sums of row hashes, or row by row if ``exact``. Without ``model`` no language
    model takes part, so the same source, folder and arguments give the same result. A model that
    loses something is returned too: ``result.proof.holds`` says whether it does.

    ``model`` is ``"provider:model"``, which proposes decisions in a run of stages that is recorded
    and reported to ``on_stage``; it needs ``out``. ``endpoint`` is the address of a server other
    than the provider's own. ``max_cost`` are the US dollars that the run may
    cost, and a call with the same ``run_id`` and arguments resumes it. Raises SourceError,
    UsageError, DecisionError, BuildFailedError, OutputError and, with a model, CostLimitExceeded.
    """
    _check_model_arguments(model, out, endpoint or max_cost or on_stage or run_id)
    folder = None if out is None else Path(out)
    place = opening(source, options)
    asked = {
        "technique": technique, "variant": variant, "event_dates": event_dates,
        "fiscal_year_start": fiscal_year_start, "locale": locale,
        "business_vault": business_vault, "target": target, "project": project,
        "exact": exact, "redesign": redesign,
    }  # fmt: skip
    forge_options = with_values(ForgeOptions, asked)
    if folder is not None:
        _check_outside(folder, place)
        restore_interrupted(folder)
        if place.source is None:
            place = replace(place, requests=as_in_folder(folder, place.requests))
    followed = followed_decisions(decisions, folder, overwrite=overwrite)
    if place.source is None:
        place = replace(place, requests=as_decided(place.requests, followed.decisions))
    settings = forge_options.as_settings()
    settings["decisions"], settings["decisions_text"] = followed.decisions, followed.text
    if model is not None and folder is not None:
        # Most forges use no model, and don't wait for this import.
        from fluid_build.api.model_forge import ModelForge

        asked_model = ModelForge(model, endpoint, max_cost, on_stage, run_id)
        decided = ForgeOptions(**settings)
        with reporting(on_progress) as report:
            result = asked_model.run(
                place, decided, folder, overwrite=overwrite, on_progress=report
            )
        return ForgeResult(
            result.forged, decided, place, folder=folder, rows=None, receipt=result.receipt
        )
    with reporting(on_progress) as report, place.session(report) as opened:
        forged = forge_source(
            opened, out=folder, overwrite=overwrite, on_progress=report, **settings
        )
        rows = None if folder is not None else fingerprints(opened)
    return ForgeResult(forged, ForgeOptions(**settings), place, folder=folder, rows=rows)


class ForgeResult:
    """What was made of a source: its profile, model, contract and proof, and files once written.

    ``folder`` is where the files are, None before they are written. ``receipt`` says what a
    language model did and cost, None where none took part.
    """

    def __init__(
        self,
        forged: Forged,
        options: ForgeOptions,
        place: Opening,
        *,
        folder: Path | None,
        rows: Mapping[str, str] | None,
        receipt: "Receipt | None" = None,
    ) -> None:
        self.receipt = receipt
        self._forged = forged
        self._options = options
        self._place = place
        self._rows = rows
        self.folder = folder

    @property
    def profile(self) -> ProfileResult:
        """Return what is true in the data, with the decisions that were followed."""
        return ProfileResult(self._forged.profile)

    @property
    def model(self) -> LogicalModel:
        """Return the logical model."""
        return self._forged.model

    @property
    def plan(self) -> TransformPlan:
        """Return the relations of the model with their SQL, in the order of building."""
        return self._forged.plan

    @property
    def contract(self) -> FluidContract:
        """Return the FLUID 0.7.2 contract."""
        return self._forged.contract

    @property
    def contract_yaml(self) -> str:
        """Return the contract as the text of ``contract.fluid.yaml``."""
        return contract_yaml(self._forged.contract)

    @property
    def proof(self) -> Proof:
        """Return the comparison of what was built with the source."""
        return self._forged.proof

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return what became of each decision, in their order."""
        return self._forged.verdicts

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that were written, sorted; none before that."""
        return self._forged.files

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the files of the folder that were left alone, since somebody edited them."""
        return tuple(change.name for change in self._forged.kept)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what to know about the dbt project, in sentences; nothing before it's written."""
        return self._forged.notes

    @property
    def page(self) -> Path | None:
        """Return the page of the folder, ``report.html``; None before it's written."""
        page = None if self.folder is None else self.folder / REPORT_FILE
        return page if page in self._forged.files else None

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        on_progress: OnProgress | None = None,
    ) -> tuple[Path, ...]:
        """Write everything to a folder, and return the files.

        The source is opened again if it's closed, because the dbt project is checked on it and may
        need copies of its tables. Files in the folder that somebody edited are kept unless
        ``overwrite`` is set. Raises SourceChangedError where a row isn't as it was, SourceError
        where the source can't be opened any more, UsageError where the folder has decisions that
        weren't followed or is inside the source, and OutputError.
        """
        out = Path(folder)
        _check_outside(out, self._place)
        restore_interrupted(out)
        if not overwrite and loses_decisions(out, self._options.decisions_text):
            raise UsageError(
                f"{out} has decisions that this forge didn't follow.",
                hint="Forge with out= to follow them, or save with overwrite=True.",
            )
        with reporting(on_progress) as report, self._place.session(report) as source:
            if self._rows is None:
                self._rows = fingerprints(source)
            check_same_rows(source, self._rows)
            self._forged = write_forged(
                source, self._forged, self._options, out, overwrite=overwrite, on_progress=report
            )
        self.folder = out
        return self.files

    def __repr__(self) -> str:
        built = counted(len(self.plan.published), "relation")
        place = "" if self.folder is None else f", in {self.folder}"
        name, technique = self.model.title, self.model.technique
        return f"<Forged {name}: {technique}, {built}, {self.proof.verdict}{place}>"

    def _repr_html_(self) -> str:
        return forged_html(self._forged)


def _check_model_arguments(model: str | None, out: object, others: object) -> None:
    """Raise UsageError for a model without a folder, and for what is said of no model."""
    if model is None and others:
        raise UsageError(
            "endpoint, max_cost, on_stage and run_id are of a forge with a model.",
            hint="Pass model='provider:model', or leave them out.",
        )
    if model is not None and out is None:
        raise UsageError(
            "A forge with a model writes its folder.", hint="Pass out= with the folder."
        )


def _check_outside(folder: Path, place: Opening) -> None:
    for request in place.requests:
        check_outside(folder, request.address)
