"""Results as HTML for notebooks: small, escaped, with nothing loaded from elsewhere.

Colours come from the notebook, so that they fit light and dark themes. The few of our own are
readable on both.
"""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fluid_build.contract.live import LiveResult
from fluid_build.contract.live.report import counts
from fluid_build.forging import Forged
from fluid_build.profiling.profile import Profile
from fluid_build.report.terminal.visible_text import visible
from fluid_build.report.view import SourceView, confidence_label, source_view
from fluid_build.text import counted
from fluid_build.verification import Verified

MOST_SHOWN = 60
"""Rows of a table in a notebook; more are counted, and all of them are in the result."""


def profile_html(profile: Profile) -> str:
    """Return what is true in the data: tables, keys, relationships and what breaks them."""
    return _render("profile.html", view=source_view(profile))


def forged_html(forged: Forged) -> str:
    """Return what was made of a source, and whether the proof holds."""
    view = source_view(forged.profile)
    return _render("forged.html", forged=forged, view=view)


def verified_html(verified: Verified) -> str:
    """Return whether a folder still fits its source, and what doesn't."""
    return _render("verified.html", verified=verified)


def tested_html(result: LiveResult) -> str:
    """Return which promises of a contract live data keeps, and which it breaks."""
    failed = [check for check in result.checks if check.fails]
    return _render("tested.html", result=result, counts=counts(result), failed=failed)


def _render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values, most=MOST_SHOWN)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("fluid_build.api"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible_text,
    )
    environment.filters |= {
        "counted": counted,
        "confidence": confidence_label,
        "origin": _origin,
        "number": lambda number: f"{number:,}",
    }
    environment.globals["figures"] = _figures
    return environment


def _visible_text(value: object) -> object:
    """Return a value as it's shown: of text, characters that act on what is around them escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _origin(origin: str) -> str:
    return {"declared": "declared", "measured": "found in the data"}.get(origin, "proposed")


def _figures(view: SourceView) -> str:
    figures = [counted(len(view.tables), "table"), counted(len(view.columns), "column")]
    if view.profile.has_data:
        figures.append(counted(view.rows, "row"))
    return " · ".join((view.kind_label, *figures))
