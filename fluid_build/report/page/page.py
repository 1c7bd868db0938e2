"""The page as one file of HTML that needs no network and runs nothing but its own script.

Text is escaped by the templates. The Content-Security-Policy allows the one style sheet and the
one script in the page, by their hashes (https://www.w3.org/TR/CSP3/).
"""

import base64
import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fluid_build import __version__
from fluid_build.decisions.reasons import is_decided
from fluid_build.modeling.conceptual import CandidateRelationship, EntityKey, Relationship
from fluid_build.report.page.calls import calls
from fluid_build.report.page.column_cards import ColumnCard, column_cards
from fluid_build.report.page.content import BuiltContent, PageContent
from fluid_build.report.page.lineage import lineage
from fluid_build.report.page.map import map_data
from fluid_build.report.page.map_lines import number
from fluid_build.report.page.model import model_page
from fluid_build.report.page.overview import overview
from fluid_build.report.page.page_file import GENERATOR
from fluid_build.report.page.run import dollars, run_page
from fluid_build.report.page.run_timeline import duration
from fluid_build.report.view import ORIGIN_LABELS, TableView, confidence_label
from fluid_build.text import as_sentence, counted
from fluid_build.transform.proof.proof import TableProof

# The tables: each with its columns, keys and relationships, and the evidence for them.

_MOST_KEYS = 12
"""Other keys that are listed; of a small table many combinations are unique by chance."""


@dataclass(frozen=True, slots=True)
class TablePanel:
    """A table. ``id`` is its address in the page, ``words`` what a search finds it by.

    ``references`` lead to parents, ``referring`` come from children; ``rejected`` are references
    that were weighed and aren't believed.
    """

    id: str
    words: str
    table: TableView
    columns: tuple[ColumnCard, ...]
    other_keys: tuple[EntityKey, ...]
    references: tuple[Relationship, ...]
    referring: tuple[Relationship, ...]
    rejected: tuple[CandidateRelationship, ...]
    proof: TableProof | None


@dataclass(frozen=True, slots=True)
class Tables:
    """The panels of all tables in the order of the source, and the addresses of all by name."""

    panels: tuple[TablePanel, ...]
    addresses: Mapping[str, str]
    has_data: bool


def origin_label(claim: EntityKey | Relationship) -> str:
    """Return who makes a claim, in a word or two."""
    return "decided" if is_decided(claim.reason) else ORIGIN_LABELS[claim.origin]


def tables(content: PageContent) -> Tables:
    """Return the panels of all tables."""
    view = content.view
    addresses = content.table_addresses
    references: dict[str, list[Relationship]] = defaultdict(list)
    referring: dict[str, list[Relationship]] = defaultdict(list)
    becomes = {} if content.built is None else lineage(content.built.plan)
    rejected: dict[str, list[CandidateRelationship]] = defaultdict(list)
    for relationship in view.conceptual.relationships:
        references[relationship.from_entity].append(relationship)
        referring[relationship.to_entity].append(relationship)
    for candidate in view.conceptual.candidates:
        rejected[candidate.from_entity].append(candidate)
    panels = tuple(
        TablePanel(
            id=addresses[table.name],
            words=" ".join((table.name, *(c.measured.name for c in table.columns))).lower(),
            table=table,
            columns=tuple(column_cards(table, references[table.name], becomes)),
            other_keys=tuple(k for k in table.entity.keys if k.kind != "primary")[:_MOST_KEYS],
            references=tuple(references[table.name]),
            referring=tuple(referring[table.name]),
            rejected=tuple(rejected[table.name]),
            proof=table.proof,
        )
        for table in view.tables
    )
    return Tables(panels, addresses, view.profile.has_data)


# Long texts as the page carries them: compressed, and unpacked by the browser when they are read.
# A contract repeats itself so much that it takes a twentieth of its size. The same text gives the
# same bytes: gzip's header holds no time.

_LEVEL = 6
"""zlib's own default: higher levels take three times as long for a few hundredths."""


def packed(text: str) -> str:
    """Return a text as gzip in base64."""
    compressed = gzip.compress(text.encode(), compresslevel=_LEVEL, mtime=0)
    return base64.b64encode(compressed).decode()


# Panels: the parts of a view that are shown one at a time, as those of hundreds of tables.
# Their HTML is most of a page. It's packed, some panels at a time, and the browser unpacks what
# it shows: a page of 500 tables is read and started as fast as one of 50.

_PANELS_A_PACK = 20
"""Some hundred kilobytes of HTML: unpacked before anybody notices, and compressed well."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel that is shown by its id, and the id of the pack that has its HTML."""

    id: str
    pack: str


@dataclass(frozen=True, slots=True)
class Panels:
    """Panels in their order, and the packs by their ids: JSON objects of HTML by panel, packed."""

    panels: tuple[Panel, ...] = ()
    packs: tuple[tuple[str, str], ...] = ()


NO_PANELS = Panels()


def packed_panels(view: str, texts: Sequence[tuple[str, str]]) -> Panels:
    """Return the panels of a view, which are given by their ids with their HTML."""
    panels: list[Panel] = []
    packs: list[tuple[str, str]] = []
    for start in range(0, len(texts), _PANELS_A_PACK):
        part = texts[start : start + _PANELS_A_PACK]
        pack = f"pack-{view}-{len(packs)}"
        packs.append((pack, packed(json.dumps(dict(part), ensure_ascii=False))))
        panels += (Panel(id_, pack) for id_, _ in part)
    return Panels(tuple(panels), tuple(packs))


# The contract: its text, unpacked and folded by the browser.


@dataclass(frozen=True, slots=True)
class ContractPage:
    """The text of a contract, packed, and its number of lines."""

    text: str
    lines: int


def contract_page(built: BuiltContent) -> ContractPage:
    """Return the contract of a page."""
    return ContractPage(packed(built.contract), built.contract.count("\n"))


_STYLES = (
    "base.css",
    "overview.css",
    "map.css",
    "tables.css",
    "calls.css",
    "run.css",
    "contract.css",
)
_SCRIPTS = (
    "routing.js",
    "theme.js",
    "copying.js",
    "filtering.js",
    "map_scene.js",
    "map_panel.js",
    "map_search.js",
    "map.js",
    "unpacking.js",
    "calls.js",
    "contract.js",
)


@dataclass(frozen=True, slots=True)
class Section:
    """A view of the page: the id in its address, its title, its template and what that shows."""

    id: str
    title: str
    template: str
    data: object
    panels: Panels = NO_PANELS


class Addressed(Protocol):
    """What has an address in the page."""

    @property
    def id(self) -> str:
        """The address."""


def report_page(content: PageContent) -> str:
    """Return the page as HTML; the same content gives the same text."""
    sections = tuple(_sections(content))
    style, script = _asset_text(_STYLES), _asset_text(_SCRIPTS)
    return (
        _environment()
        .get_template("page.html")
        .render(
            title=_title(content),
            generator=f"{GENERATOR} {__version__}",
            policy=_policy(style, script),
            style=Markup(style),
            script=Markup(script),
            sections=sections,
            addresses={section.id for section in sections},
            view=content.view,
            folder=content.built.folder if content.built else "",
        )
    )


def plain_page(
    template: str, title: str, data: object, styles: tuple[str, ...] = ("base.css",)
) -> str:
    """Return a page of one view, which runs no script; the same data gives the same text."""
    style = _asset_text(styles)
    return (
        _environment()
        .get_template(template)
        .render(
            title=title,
            generator=f"{GENERATOR} {__version__}",
            policy=_policy(style),
            style=Markup(style),
            data=data,
        )
    )


def _sections(content: PageContent) -> Iterator[Section]:
    yield Section("overview", "Overview", "overview.html", overview(content))
    yield Section("map", "Map", "map.html", map_data(content))
    data = tables(content)
    panels = _panels("tables", "table_panel.html", data, data.panels)
    yield Section("tables", "Tables", "tables.html", data, panels)
    if (built := content.built) is not None:
        model = model_page(content, built)
        panels = _panels("model", "relation_panel.html", model, model.relations)
        yield Section("model", "Model", "model.html", model, panels)
    yield _calls(content)
    if content.view.proof is not None or content.run is not None or content.next_steps:
        yield Section("run", "Run", "run.html", run_page(content))
    if built is not None:
        yield Section("contract", "Contract", "contract.html", contract_page(built))


def _panels(view: str, template: str, data: object, panels: Sequence[Addressed]) -> Panels:
    render = _environment().get_template(template).render
    return packed_panels(view, [(panel.id, render(data=data, panel=panel)) for panel in panels])


def _calls(content: PageContent) -> Section:
    """Return the judgement calls, with the answers far down the list in packs."""
    data = calls(content)
    render = _environment().get_template("call_answers.html").render
    answers = [
        (f"{question.id}-answers", render(question=question)) for question in data.packed_questions
    ]
    packed = packed_panels("calls", answers)
    packs = {
        question.id: panel.pack
        for question, panel in zip(data.packed_questions, packed.panels, strict=True)
    }
    data = replace(data, packs=packs)
    return Section("calls", "Judgement calls", "calls.html", data, replace(packed, panels=()))


def _title(content: PageContent) -> str:
    return content.view.model.product if content.view.model else content.view.profile.source_name


def _policy(style: str, script: str = "") -> str:
    """Return what the browser may do: use the page's style, and run its script if it has one."""
    scripts = f" script-src {_hash(script)};" if script else ""
    return (
        f"default-src 'none'; style-src {_hash(style)};{scripts} base-uri 'none';"
        " form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _sentence(text: str) -> str:
    """Return a reason as a sentence of its own."""
    return as_sentence(text[:1].upper() + text[1:]) if text else ""


@lru_cache(maxsize=65_536)
def _name_label(name: str) -> Markup:
    """Return a name of the data as it's shown: in a macro, names would take most of the time."""
    return Markup('<code class="name"><bdi>{}</bdi></code>').format(name)


def _name_labels(names: Iterable[str]) -> Markup:
    return Markup(", ").join(map(_name_label, names))


def _percent_label(percent: float) -> str:
    """Return a share of 0 to 100 as text: little never shows as nothing, nor almost all as all."""
    if 0 < percent < 1:
        return "<1%"
    return ">99%" if 99 < percent < 100 else f"{percent:.0f}%"


@cache
def _asset_text(names: tuple[str, ...]) -> str:
    folder = files("fluid_build.report.page") / "assets"
    return "\n".join((folder / name).read_text(encoding="utf-8").strip() for name in names)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("fluid_build.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["name"] = _name_label
    environment.globals["names"] = _name_labels
    environment.filters["counted"] = counted
    environment.filters["coordinate"] = number
    environment.filters["packed"] = packed
    environment.filters["figure"] = "{:,}".format
    environment.filters["origin"] = origin_label
    environment.filters["confidence"] = confidence_label
    environment.filters["sentence"] = _sentence
    environment.filters["dollars"] = dollars
    environment.filters["duration"] = duration
    environment.filters["percent"] = _percent_label
    return environment
