"""The pages of the site that aren't files in docs/: none of them is a copy that has to be kept.

The documents next to mkdocs.yml are pages as they are. The reference of options is made of the
commands, and the reference of Python names of their docstrings.
"""

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from fluid_build.cli.main import command_tree
from website.options import anchor, options_page

ROOT = Path(__file__).parents[1]
DOCUMENTS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Documents outside of docs/, and the pages that they become."""
FILES = {"LICENSE": "LICENSE.txt", "website/site.css": "site.css"}
"""Other files outside of docs/, and where they are on the site."""
_PYTHON = {
    "python.md": (
        "Python API",
        "`import fluid_build as fluid` offers these names. [From Python](api.md) shows them at"
        " work, and says how long each stays.",
        "fluid_build.api",
    ),
    "runtime-python.md": (
        "API of the agent runtime",
        "The names that `fluid_build.copilot` offers itself. [The agent runtime](runtime.md) shows"
        " them at work, and describes the modules behind them.",
        "fluid_build.copilot",
    ),
}
"""Pages of docstrings: title, first paragraph and module."""
_PLACES = DOCUMENTS | FILES
_ALONE = "---\nhide: [navigation]\n---\n\n"
"""What leaves out the list of a section's pages, where there is only one."""
_LINK = re.compile(r"(?<=\]\()[^)#:]+(?=[)#])")
_COMMAND = re.compile(r"^#+ (fluid [a-z -]+)$", re.MULTILINE)


def adapted(page: str, text: str) -> str:
    """Return the text of a page in docs/ with links to pages that only the site has."""
    text = re.sub(r"(?<=\]\()\.\./([^)#:]+)", lambda link: _PLACES.get(link[1], link[0]), text)
    return _COMMAND.sub(_with_options, text) if page == "commands.md" else text


def _with_options(heading: re.Match[str]) -> str:
    """Return a heading of a command with a link to its options below."""
    return f"{heading[0]}\n\n[Options](options.md#{anchor(heading[1])}){{ .options }}"


def _from_root(source: str) -> str:
    """Return a document next to mkdocs.yml, its links leading where they do among the pages."""

    def place(link: re.Match[str]) -> str:
        return _PLACES.get(link[0], link[0].removeprefix("docs/"))

    text = _LINK.sub(place, (ROOT / source).read_text(encoding="utf-8"))
    return _ALONE + text if DOCUMENTS[source] == "index.md" else text


def _of_docstrings(page: str) -> str:
    title, first, module = _PYTHON[page]
    return f"# {title}\n\n{first}\n\n" + "\n".join(_groups(module))


def _groups(module: str) -> Iterator[str]:
    """Yield what a module offers in the order in which a reader needs it."""
    kinds: dict[str, list[str]] = {"Functions": [], "Classes and types": [], "Errors": []}
    for name in sorted(importlib.import_module(module).__all__, key=str.lower):
        kinds[_kind(name)].append(f"::: {module}.{name}\n")
    for kind, names in kinds.items():
        if names:
            yield "\n".join([f"## {kind}\n", *names])


def _kind(name: str) -> str:
    """Return what a name stands for, by its form: the value itself may need an extra."""
    if name[0].islower():
        return "Functions"
    return "Errors" if name.endswith("Error") else "Classes and types"


def _options() -> str:
    commands = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    return options_page(command_tree(), set(_COMMAND.findall(commands)))


MADE: Mapping[str, Callable[[], str]] = {
    **{page: partial(_from_root, source) for source, page in DOCUMENTS.items()},
    **{page: partial(_of_docstrings, page) for page in _PYTHON},
    "options.md": _options,
}
"""What makes the text of each page that isn't in docs/, by the page's name."""
