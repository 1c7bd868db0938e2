"""Forging with a language model from Python: the pipeline, recorded, watched and resumed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

from fluid_build.api.arguments import Opening
from fluid_build.copilot.cost import parse_cost_limit
from fluid_build.copilot.errors import RunNotFoundError
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.store.configured import open_store
from fluid_build.errors import FluidError, UsageError
from fluid_build.forging import ForgeOptions
from fluid_build.json_types import JsonObject
from fluid_build.pipeline.requests import ForgeRequest, ModelUse, SourcePlace
from fluid_build.pipeline.running import RunResult, Watching, begin_run, resume_run, start_run
from fluid_build.pipeline.runs import RunLog, RunRecord
from fluid_build.pipeline.stages import OnStage, ignore_stages
from fluid_build.progress import OnProgress
from fluid_build.sources.addresses.kinds import IN_MEMORY
from fluid_build.sources.combined import SourceRequest

Dollars: TypeAlias = Decimal | float | str


@dataclass(frozen=True, slots=True)
class ModelForge:
    """A forge in which a model takes part.

    ``model`` is ``"provider:model"``, ``endpoint`` the address of a server other than the
    provider's own. The run of ``run_id`` is resumed where there is one that isn't finished.
    """

    model: str
    endpoint: str | None = None
    max_cost: Dollars | None = None
    on_stage: OnStage | None = None
    run_id: str | None = None

    def run(
        self,
        place: Opening,
        options: ForgeOptions,
        out: Path,
        *,
        overwrite: bool,
        on_progress: OnProgress,
    ) -> RunResult:
        """Run all stages, or those that an earlier process hasn't finished.

        Raises what the stages raise; a note of the error has the run's id, to resume it.
        """
        request = self._request(place, options, out, overwrite)
        watching = Watching(on_progress, self.on_stage or ignore_stages)
        with closing(open_store()) as opened:
            record = self._earlier(opened, request)
            notes: tuple[str, ...] = ()
            store: Store = opened
            if is_new := record is None:
                store, record, notes = begin_run(opened, request, run_id=self.run_id)
            try:
                with place.session(on_progress) as source:
                    if is_new:
                        return start_run(
                            source,
                            store,
                            record,
                            watching=watching,
                            notes=notes,
                        )
                    return resume_run(source, store, record, watching=watching)
            except FluidError as error:
                error.add_note(f"Call forge again with run_id={record.id!r} to resume the run.")
                raise

    def _request(
        self, place: Opening, options: ForgeOptions, out: Path, overwrite: bool
    ) -> ForgeRequest:
        provider, colon, model = self.model.partition(":")
        if not colon or not provider.strip() or not model.strip():
            raise UsageError(
                f"{self.model!r} doesn't name a provider and a model.",
                hint="Write model='provider:model', such as 'anthropic:claude-sonnet-4-6'.",
            )
        limit = None if self.max_cost is None else parse_cost_limit(self.max_cost, "max_cost")
        return ForgeRequest(
            command="from-source",
            folder=Path.cwd(),
            sources=tuple(map(SourcePlace.of, _with_address(place.requests))),
            name=place.name,
            options=options,
            out=out,
            overwrite=overwrite,
            model_use=ModelUse(
                provider=provider.strip().lower(), model=model.strip(), endpoint=self.endpoint
            ),
            max_cost=limit,
        )

    def _earlier(self, store: Store, request: ForgeRequest) -> RunRecord | None:
        """Return the unfinished run of the id, with the limit that counts now; None if it's new."""
        if self.run_id is None:
            return None
        try:
            record = RunLog(store).get(self.run_id)
        except RunNotFoundError:
            return None
        if record.state == "finished":
            raise UsageError(
                f"The run {self.run_id!r} is finished: its files are in"
                f" {record.request.folder / record.request.out}.",
                hint="Choose another run_id for a new run.",
            )
        if _asked(record.request) != _asked(request):
            raise UsageError(
                f"The run {self.run_id!r} was asked something else.",
                hint="Resume it with the arguments that it began with, or choose another run_id.",
            )
        resumed = record.request.model_copy(update={"max_cost": request.max_cost})
        return record.model_copy(update={"request": resumed})


def _with_address(requests: Sequence[SourceRequest]) -> Sequence[SourceRequest]:
    if requests and all(request.address.kind is not IN_MEMORY for request in requests):
        return requests
    raise UsageError(
        "A forge with a model reads its source by its address, so that it can be resumed.",
        hint="Pass a URI or a file, or forge without model=.",
    )


def _asked(request: ForgeRequest) -> JsonObject:
    """Return a request as it's saved, without what may differ in the process that resumes it."""
    use = request.model_use
    use = ModelUse(provider=use.provider, model=use.model, endpoint=use.endpoint)
    asked = request.model_copy(
        update={"max_cost": None, "configured_limit": None, "model_use": use}
    )
    document: JsonObject = asked.model_dump(mode="json")
    return document
