"""The page as one file of HTML that needs no network and runs nothing but its own script.

Text is escaped by the templates. The Content-Security-Policy allows the one style sheet and the
one script in the page, by their hashes (https://www.w3.org/TR/CSP3/).
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fluid_build import __version__
from fluid_build.report.page.calls import calls
from fluid_build.report.page.content import PageContent
from fluid_build.report.page.contract import contract_page
from fluid_build.report.page.map import map_data
from fluid_build.report.page.map_lines import number
from fluid_build.report.page.model import model_page
from fluid_build.report.page.overview import overview
from fluid_build.report.page.packed import packed
from fluid_build.report.page.page_file import GENERATOR
from fluid_build.report.page.panels import NO_PANELS, Panels, packed_panels
from fluid_build.report.page.run import dollars, run_page
from fluid_build.report.page.run_timeline import duration
from fluid_build.report.page.tables import origin_label, tables
from fluid_build.report.view import confidence_label
from fluid_build.text import as_sentence, counted

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


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)};"
        " base-uri 'none'; form-action 'none'"
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
