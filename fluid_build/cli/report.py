"""``fluid report``: the page of a forged folder, made again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from fluid_build.cli import failures, messages
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.pages import open_page, opening
from fluid_build.forging.documents import REPORT_FILE
from fluid_build.pipeline.folder_page import make_page
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import Part, first_line, whole


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that `fluid forge` wrote.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Where to write the page."),
    ] = None,
    opens: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Show a forged folder as one page: the data, the model, the evidence and the run.

    The page is made again of the folder's files and of the run that wrote them. Neither the source
    nor a network is needed.

    \b
    Example:  fluid report shop-model --open
    """
    path = out or folder / REPORT_FILE
    run = make_page(folder, path)
    is_open = opens and open_page(path)
    if json:
        messages.show_json({"report": str(path), "folder": str(folder), "run": run and run.id})
    else:
        show(_screen(path, is_open=is_open))
    if opens and not is_open:
        messages.tell(f"There is no browser to open it in. The page is {path.absolute()}.")
    return failures.DONE


def _screen(path: Path, *, is_open: bool) -> Iterator[Part]:
    yield first_line(whole(path), "open in the browser" if is_open else "the page is written")
    if not is_open:
        yield from opening(path)
