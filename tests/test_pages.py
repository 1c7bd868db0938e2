"""The pages of the documents name what there is, and lead to each other."""

import importlib
import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from tests.commands import known_commands
from tests.documents import ROOT
from website.pages import MADE, adapted


def test_the_commands_page_has_a_section_on_each_command() -> None:
    """On each that is called by one word, and on none that isn't there."""
    text = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    described = {title for title in headings(text) if title.startswith("fluid ")}
    known = [command.name for command in known_commands()]
    assert described <= set(known)
    for command in known:
        if command.count(" ") == 1 and command != "fluid help":
            assert any(f"{title} ".startswith(f"{command} ") for title in described), command


def pages() -> list[Path]:
    """The documents of the project."""
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def headings(text: str) -> list[str]:
    """The headings of a document, without those in its blocks of code."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.+)$", prose, re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub and the site make them."""
    titles = headings(path.read_text(encoding="utf-8"))
    slugs = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
    return {slug for slug in slugs if slugs.count(slug) == 1}


def test_links_between_documents_lead_somewhere() -> None:
    """To a file that exists and, where a link names one, to a heading in it."""
    found = 0
    for path in pages():
        text = path.read_text(encoding="utf-8")
        for place, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
            target = path.parent / place if place else path
            assert target.exists(), f"{path.name}: {place}"
            assert not anchor or anchor in anchors(target), f"{path.name}: {place}#{anchor}"
            found += 1
    assert found > 100


class SiteLoader(yaml.SafeLoader):
    """Reads mkdocs.yml, but runs none of the Python that it names."""


SiteLoader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def pages_of_the_navigation(entry: Any) -> Iterator[str]:
    """The pages below an entry of the site's navigation."""
    if isinstance(entry, str):
        yield entry
    else:
        for below in entry if isinstance(entry, list) else entry.values():
            yield from pages_of_the_navigation(below)


def test_the_navigation_of_the_site_has_every_page_once() -> None:
    """Each file in docs/, and each page that is made when the site is built."""
    site = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), SiteLoader)
    written = [str(path.relative_to(ROOT / "docs")) for path in ROOT.glob("docs/**/*.md")]
    assert sorted(pages_of_the_navigation(site["nav"])) == sorted([*written, *MADE])


def test_the_options_of_every_command_are_on_the_site() -> None:
    text = MADE["options.md"]()
    described = text.split("\n## ")[1:]
    known = list(known_commands())
    assert [section.partition("\n")[0] for section in described] == [each.name for each in known]
    for section, each in zip(described, known, strict=True):
        options = [option for parameter in each.command.params for option in parameter.opts]
        shown = {"--help", "--debug"}
        assert all(
            option in section for option in options if option[0] == "-" and option not in shown
        )


def test_pages_of_the_site_link_to_the_documents_outside_of_docs() -> None:
    assert adapted("json.md", "[a](../CONTRIBUTING.md#a) [b](api.md)") == (
        "[a](contributing.md#a) [b](api.md)"
    )
    start = MADE["index.md"]()
    assert "](api.md)" in start
    assert "](docs/" not in start


def test_every_dependency_has_a_line() -> None:
    """Of the package, its extras and its groups; DuckDB's extensions share one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = [
        *project["project"]["dependencies"],
        *chain(*project["project"]["optional-dependencies"].values()),
        *chain(*project["dependency-groups"].values()),
    ]
    rows = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8").partition("\n|")[2]
    named = set(re.findall(r"[A-Za-z0-9][\w-]*", rows))
    for requirement in (each for each in declared if isinstance(each, str)):
        name = re.split(r"[^\w-]", requirement)[0]
        assert name in named or name.startswith("duckdb-extension-"), name


MAP = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """A section of the map."""
    return MAP.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_map_names_functions_that_there_are() -> None:
    rows = re.findall(r"^\| \d+ \| `([\w.]+)` ", section("The way of the data"), re.MULTILINE)
    assert len(rows) == 10
    for row in rows:
        module, _, name = row.rpartition(".")
        assert callable(getattr(importlib.import_module(f"fluid_build.{module}"), name))


def test_the_map_names_files_that_there_are() -> None:
    """A part in angle brackets stands for any name."""
    named = re.findall(r"`([\w/<>.]+(?:/|\.(?:py|toml|md|json)))`", MAP)
    assert len(named) > 50
    for name in named:
        pattern = re.sub(r"<\w+>", "*", name.rstrip("/"))
        places = (ROOT, ROOT / "fluid_build")
        is_of_techniques = name in ("elements.py", "rebuilds.py")
        is_written = name == "MODEL.md"
        assert is_of_techniques or is_written or any(list(p.glob(pattern)) for p in places), name


def test_the_map_has_every_room() -> None:
    listed = set(re.findall(r"`(\w+(?:\.py)?)`", section("The rooms")))
    rooms = [path.name for path in (ROOT / "fluid_build").iterdir() if path.name[0] not in "_."]
    assert set(rooms) - {"py.typed"} <= listed
