"""Runs with hostile models, and what must be true of what they leave behind."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest
import yaml

from fluid_build.contract.consistency import check_consistency
from fluid_build.contract.validation import validate
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.decisions.language import DECISION
from fluid_build.forging import Forged, forge
from fluid_build.modeling.logical import LogicalModel
from fluid_build.pipeline.receipt import Receipt
from fluid_build.pipeline.requests import ModelUse
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.sql import quote
from tests.fault_server import LoopbackServer
from tests.fault_server.server import ServerScript
from tests.pipeline.lies import Lie, believable_lies, contents, decision_content
from tests.pipeline.small_runs import forge_run, request_for

TECHNIQUES = ("flat", "data_vault_2", "dimensional")

ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""Characters that a terminal obeys, or that turn or hide text."""
_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\{[{%#].*", re.DOTALL)
_ESCAPED = re.compile(r"\{\{ (\\?[\"'])\{[{%#]?\1 \}\}")
"""Braces of a text in dbt's files: a literal that prints them."""
_RAW = re.compile(r"\{% raw %\}.*?\{% endraw %\}", re.DOTALL)
_LITERALS = re.compile(r"('[\w ./:%-]*'|\"[\w ./:%-]*\")(, ?('[\w ./:%-]*'|\"[\w ./:%-]*\"))*")

_PLAIN_CALL = re.compile(
    r"\{\{ (vault|dimension)_\w+\(\n"
    r"(?:[\s\[\]{},:]|\w+=|true|ref\('\w+'\)|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")*\) \}\}"
)
"""A call of a pattern whose arguments are texts and names: nothing in them is evaluated."""
_PLAIN_CONFIG = re.compile(
    r"\{\{ config\((materialized|incremental_strategy|on_schema_change|='x'|, )+\) \}\}"
)


@dataclass
class Tally:
    """What became of the proposals of runs, by status; ``lies`` counts the refutable ones alone."""

    runs: int = 0
    proposals: Counter[str] = field(default_factory=Counter)
    lies: Counter[str] = field(default_factory=Counter)

    def add(self, receipt: Receipt, lies: set[str]) -> list[str]:
        """Count a run's proposals; return the lies that it let through."""
        self.runs += 1
        let_through = []
        self.proposals["unread"] += receipt.unread_proposals
        self.proposals["invalid"] += len(receipt.invalid_proposals)
        for entry in receipt.proposed:
            self.proposals[entry.status] += 1
            decision = DECISION.validate_python(entry.decision)
            if decision_content(decision) in lies:
                self.lies[entry.status] += 1
                if entry.status in {"accepted", "insisted"}:
                    let_through.append(f"{decision_content(decision)}: {entry.message}")
        return let_through


def false_claims(source: Source, model: LogicalModel, draft: LogicalModel) -> list[str]:
    """Return the claims of a model that the source contradicts, and what the draft knew better."""
    connection = source.connection.cursor()
    for table in source.tables:
        if table.relation != quote(table.name):
            connection.execute(
                f"CREATE OR REPLACE TEMP VIEW {quote(table.name)} AS FROM {table.relation}"
            )
    return [
        *_broken_keys(connection, model),
        *_broken_relationships(connection, model, draft),
        *_lost_declarations(model, draft),
        *_ids_as_measures(model, draft),
    ]


def _violations(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    return len(connection.execute(sql).fetchmany(1))


def _broken_keys(connection: duckdb.DuckDBPyConnection, model: LogicalModel) -> Iterator[str]:
    for entity in model.conceptual.entities:
        for key in entity.keys:
            if key.holds and key.evidence.sql and _violations(connection, key.evidence.sql):
                yield f"{entity.name} {key.attributes} isn't a key"


def _broken_relationships(
    connection: duckdb.DuckDBPyConnection, model: LogicalModel, draft: LogicalModel
) -> Iterator[str]:
    known = {
        (each.from_entity, each.from_attributes, each.to_entity, each.to_attributes)
        for each in draft.conceptual.relationships
    }
    for each in model.conceptual.relationships:
        pairs = each.from_entity, each.from_attributes, each.to_entity, each.to_attributes
        broken = _violations(connection, each.evidence.sql) if each.evidence.sql else 0
        if broken and (pairs not in known or not each.evidence.violations):
            yield f"{pairs} has orphans"


def _lost_declarations(model: LogicalModel, draft: LogicalModel) -> Iterator[str]:
    keys = {
        (entity.name, frozenset(key.attributes))
        for entity in model.conceptual.entities
        for key in entity.keys
    }
    for entity in draft.conceptual.entities:
        for key in entity.keys:
            if key.origin == "declared" and (entity.name, frozenset(key.attributes)) not in keys:
                yield f"the declared key {key.attributes} of {entity.name} is lost"
    relationships = {
        (each.from_entity, each.from_attributes, each.to_entity)
        for each in model.conceptual.relationships
    }
    for reference in draft.conceptual.relationships:
        pairs = reference.from_entity, reference.from_attributes, reference.to_entity
        if reference.origin == "declared" and pairs not in relationships:
            yield f"the declared relationship {pairs} is lost"


def _ids_as_measures(model: LogicalModel, draft: LogicalModel) -> Iterator[str]:
    ids = {
        (each.from_entity, name)
        for layer in (model, draft)
        for each in layer.conceptual.relationships
        if each.origin == "declared" or layer is model
        for name in each.from_attributes
    }
    for entity in model.conceptual.entities:
        own = set(entity.primary_key.attributes) if entity.primary_key else set()
        drafted = {
            attribute.name
            for each in draft.conceptual.entities
            if each.name == entity.name
            for attribute in each.attributes
            if attribute.measure is not None
        }
        for attribute in entity.attributes:
            is_id = attribute.name in own or (entity.name, attribute.name) in ids
            if attribute.measure is not None and is_id and attribute.name not in drafted:
                yield f"{entity.name}.{attribute.name} is an id and a measure"


def acting_parts(folder: Path, drafts: list[Path]) -> list[str]:
    """Return what would act in a folder: controls, YAML tags, HTML, Jinja foreign to drafts."""
    own_jinja = {
        block
        for draft in drafts
        for path in _dbt_files(draft)
        for block in _jinja(path.read_text("utf-8"))
    }
    parts: list[str] = [
        f"{path.name}: {block}"
        for path in _dbt_files(folder)
        for block in _jinja(path.read_text("utf-8")) - own_jinja
    ]
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = str(path.relative_to(folder))
        text = path.read_bytes().decode("utf-8")
        parts += [f"{name}: {match[0]!r}" for match in [ACTING.search(text)] if match]
        if path.suffix in {".yaml", ".yml"}:
            parts += [f"{name}: {fault}" for fault in _yaml_faults(text)]
        if path.suffix == ".md":
            parts += [f"{name}: {match}" for match in _active_markup(text)]
    return parts


def _yaml_faults(text: str) -> Iterator[str]:
    for event in yaml.parse(text):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            yield f"an anchor or alias: {event}"
        elif getattr(event, "tag", None) not in {None, "!"}:
            yield f"a tag: {event}"


def _dbt_files(folder: Path) -> list[Path]:
    return [p for p in (folder / "dbt").rglob("*") if p.suffix in {".sql", ".yml", ".md"}]


def _jinja(text: str) -> set[str]:
    """Return the Jinja of a file that dbt would run, with plain literals left out."""
    blocks = _JINJA.findall(_PLAIN_CALL.sub("", _ESCAPED.sub("", _RAW.sub("", text))))
    plain = {_LITERALS.sub("'x'", block.replace("''", "'")) for block in blocks}
    return {block for block in plain if not _PLAIN_CONFIG.fullmatch(block)}


def _active_markup(text: str) -> list[str]:
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    html = r"(?<!\\)<(?!/?code>|br>)[a-zA-Z/!][^>]{0,40}"
    return re.findall(html + r"|\]\(\s*javascript:.{0,20}", prose)


def faults_of_contract(folder: Path) -> list[str]:
    """Return what is wrong with the contract of a folder, and with its DDL."""
    contract = yaml.safe_load((folder / "contract.fluid.yaml").read_text(encoding="utf-8"))
    faults = [str(fault) for fault in (*validate(contract), *check_consistency(contract))]
    for path in sorted(folder.rglob("schema.sql")):
        with duckdb.connect() as database:
            try:
                database.execute(path.read_text(encoding="utf-8"))
            except duckdb.Error as error:
                faults.append(f"{path.name}: {error}")
    return faults


class Scene:
    """A source, lies about it, and its drafts by technique, made when first needed."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source = source
        with closing(open_source(str(source))) as opened:
            self.lies: list[Lie] = believable_lies(opened, profile_source(opened))
        self._folder = folder
        self._drafts: dict[str, Forged] = {}

    def draft_folder(self, technique: str) -> Path:
        """Return where the draft of a technique is."""
        return self._folder / f"draft-{technique}"

    def draft_folders(self) -> list[Path]:
        """Return where the drafts are that were made."""
        return [self.draft_folder(technique) for technique in self._drafts]

    def draft(self, technique: str) -> Forged:
        """Return what a forge without a model makes."""
        if technique not in self._drafts:
            with closing(open_source(str(self.source))) as opened:
                out = self.draft_folder(technique)
                self._drafts[technique] = forge(opened, technique=technique, out=out)
        return self._drafts[technique]


@dataclass(frozen=True)
class HostileRun:
    """The receipt of a run with a hostile model, and all that is wrong with its result."""

    receipt: Receipt
    faults: list[str]


def forge_with(
    scene: Scene,
    technique: str,
    script: ServerScript,
    folder: Path,
    tally: Tally | None = None,
) -> HostileRun:
    """Forge through the pipeline with a model into ``folder / "out"``, and check the result."""
    out = folder / "out"
    draft = scene.draft(technique)
    with LoopbackServer(script) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", server.key)
        use = ModelUse(provider="openai", model="gpt-4.1", endpoint=server.base_url("openai"))
        request = request_for(scene.source, out, model_use=use, technique=technique)
        result = forge_run(SqliteBackend(folder / "fluid.db"), request)
        request_count = len(server.requests)
    with closing(open_source(str(scene.source))) as source:
        faults = false_claims(source, result.forged.model, draft.model)
    faults += (tally or Tally()).add(result.receipt, contents(scene.lies))
    faults += acting_parts(out, scene.draft_folders()) + faults_of_contract(out)
    if result.forged.proof.verdict != "proven":
        faults.append(f"the proof is {result.forged.proof.verdict}")
    if not 0 < request_count <= 6:
        faults.append(f"{request_count} requests")
    return HostileRun(result.receipt, faults)
