"""What to do next, as command lines that can be pasted as they are, one after the other."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from fluid_build.cli.invocation import (
    dbt_command,
    fluid,
    install_command,
    is_dbt_installed,
    path_from_here,
)
from fluid_build.cli.reading.source_options import named_uri
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.extras import python_for, runs_here
from fluid_build.forging import CONTRACT_FILE, Forged, ForgeOptions
from fluid_build.forging.documents import REPORT_FILE
from fluid_build.report.terminal.screen_parts import Copyable, Part, heading
from fluid_build.report.terminal.summary_screen import connected_tables
from fluid_build.report.view import SourceView
from fluid_build.secrets import redact, surely_without_passwords
from fluid_build.sources.addresses.kinds import DDL, IN_MEMORY, KINDS, RemoteKind
from fluid_build.sources.neighbourhood import stray
from fluid_build.sources.options import ReadOptions
from fluid_build.sources.uri import Address, locate
from fluid_build.stated_options import words
from fluid_build.transform.dbt.project_names import duckdb_database
from fluid_build.transform.proof.manifest import Manifest, ManifestSource, place_of

_DBT_PACKAGES = ("dbt-core>=1.11,<1.12", "dbt-duckdb>=1.11,<1.12")


@dataclass(frozen=True, slots=True)
class Step:
    """A command line and what it is for; a step without a command is only a remark."""

    command: str
    remark: str


def next_steps(steps: Sequence[Step], title: str = "Next") -> Iterator[Part]:
    """Yield each command on a line of its own, below a comment that says what it does."""
    yield heading(title)
    for step in steps:
        yield Copyable(f"# {step.remark}", "dim")
        if step.command:
            yield Copyable(step.command)


def after_summary(
    view: SourceView,
    source: str,
    *,
    read: ReadOptions,
) -> tuple[Step, ...]:
    """Return how to see more of a source than its summary; ``source`` is what the user typed."""
    address = locate(source)
    place = source
    if isinstance(address.kind, RemoteKind):
        place = surely_without_passwords(source) or redact(source)
    options = tuple(words(read))
    remark = _password_remark(address)
    table = connected_tables(view)[0].name
    page = re.sub(r"[^\w.-]+", "-", view.profile.source_name) + ".html"
    return tuple(
        Step(fluid("profile", place, *options, *choice), f"{label}{remark}")
        for choice, label in (
            (("--table", table), "one table, column by column"),
            (("--all",), "every table, relationship and finding"),
            (("--html", page), "all of it as a page for the browser"),
        )
    )


def after_forge(
    folder: Path, forged: Forged, addresses: Mapping[str, Address], options: ForgeOptions
) -> tuple[Step, ...]:
    """Return what to do with a generated folder: only what works for its sources and its target.

    ``addresses`` are those of its sources by name, "" for the only one.
    """
    look = (report_step(folder),) if folder / REPORT_FILE in forged.files else ()
    if not forged.profile.has_data:
        contract = str(folder / CONTRACT_FILE)
        return (
            *look,
            Step(fluid("validate", contract), "check the contract once you have completed it"),
            Step("", f"{folder / options.tool}/README.md says how to build it once there is data."),
        )
    verify = _verify_arguments(folder, addresses)
    prove = _prove(folder, addresses)
    review = Step(fluid("review", str(folder)), "settle the judgement calls that are open")
    if options.warehouse != "duckdb":
        place = f"{folder / options.tool}/README.md"
        return (
            *look,
            prove,
            review,
            Step("", f"{place} says how to build it in {options.warehouse}."),
        )
    if options.tool == "sqlmesh":
        return (*look, prove, review, *_with_sqlmesh(folder / options.tool, forged))
    if not runs_here("dbt"):
        place = f"{folder / DBT_FOLDER}/README.md"
        return (
            *look,
            prove,
            review,
            Step("", f"{place} says how to build it, with a dbt of {python_for('dbt')}."),
        )
    project = folder / DBT_FOLDER
    build = f"(cd {shlex.quote(str(project))} && {dbt_command(project)} build)"
    database = project / f"{duckdb_database(forged.plan)}.duckdb"
    install = Step(install_command(*_DBT_PACKAGES), "install dbt")
    return (
        *look,
        prove,
        review,
        *(() if is_dbt_installed() else (install,)),
        Step(build, f"build it with dbt in {database}"),
        Step(fluid(*verify, "--warehouse", str(database)), "check what dbt built"),
    )


def _with_sqlmesh(project: Path, forged: Forged) -> Iterator[Step]:
    database = project / f"{duckdb_database(forged.plan)}.duckdb"
    inside = f"cd {shlex.quote(str(project))}"
    yield Step(f"({inside} && sqlmesh plan --auto-apply)", f"build it with sqlmesh in {database}")
    yield Step(f"({inside} && sqlmesh run)", "load what has changed, once a day")
    yield Step(f"({inside} && sqlmesh audit)", "check again what it has built")


def report_step(folder: Path) -> Step:
    """Return how to open the page of a generated folder."""
    return Step(
        fluid("report", str(folder), "--open"),
        "look at the data, the model and the evidence in the browser",
    )


def after_review(folder: Path, manifest: Manifest) -> tuple[Step, ...]:
    """Return what to do with a folder that was reviewed without its source."""
    if manifest.source.kind in (DDL.name, IN_MEMORY.name):
        return ()
    sources = manifest.source.parts or {"": manifest.source}
    addresses = {
        name: Address(KINDS[source.kind], _manifest_place(source, folder))
        for name, source in sources.items()
        if source.location is not None
    }
    return (_prove(folder, addresses),)


def _manifest_place(source: ManifestSource, folder: Path) -> str:
    place = place_of(source, folder)
    return place if isinstance(KINDS[source.kind], RemoteKind) else path_from_here(place)


def _prove(folder: Path, addresses: Mapping[str, Address]) -> Step:
    remark = next(filter(None, map(_password_remark, addresses.values())), "")
    command = fluid(*_verify_arguments(folder, addresses))
    return Step(command, f"prove again that nothing was lost{remark}")


def _verify_arguments(folder: Path, addresses: Mapping[str, Address]) -> tuple[str, ...]:
    uris = chain.from_iterable(_uri(folder, *source) for source in addresses.items())
    return ("verify", str(folder), *uris)


def _uri(folder: Path, name: str, address: Address) -> tuple[str, ...]:
    """Return --uri where the folder may not choose the source: a server, or files far from it.

    A server's password is left out.
    """
    if not isinstance(address.kind, RemoteKind):
        far = stray(str(Path(address.place).absolute()), folder) is not None
        return ("--uri", named_uri(name, address.place)) if far else ()
    place = surely_without_passwords(address.place)
    return () if place is None else ("--uri", named_uri(name, place))


def _password_remark(address: Address) -> str:
    if not isinstance(address.kind, RemoteKind):
        return ""
    has_password = surely_without_passwords(address.place) != address.place
    return " (add the password)" if has_password else ""
