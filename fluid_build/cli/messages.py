"""What a command says besides its result: progress, remarks and questions on stderr; and JSON."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from fluid_build.copilot.unified_config import current_config
from fluid_build.progress import OnProgress, ignore
from fluid_build.report.terminal.progress_bars import bars, in_lines, on_bars
from fluid_build.report.terminal.visible_text import for_stream, visible


def show_json(document: Mapping[str, object]) -> None:
    """Print a document on stdout, in pure ASCII so that no encoding can spoil it."""
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")


def tell(message: str) -> None:
    """Print a line on stderr."""
    sys.stderr.write(for_stream(visible(message), sys.stderr) + "\n")


def ask(question: str) -> str:
    """Print a question on stderr and return the line that answers it."""
    sys.stderr.write(for_stream(visible(question), sys.stderr))
    sys.stderr.flush()
    return sys.stdin.readline()


@contextmanager
def progress() -> Iterator[OnProgress]:
    """Show how far the work is: a bar that goes away on a terminal, a line a stage elsewhere.

    The setting ``behavior.quiet`` turns both off.
    """
    if current_config().behavior.quiet:
        yield ignore
    elif sys.stderr.isatty():
        with bars(sys.stderr) as shown:
            yield on_bars(shown)
    else:
        yield in_lines(sys.stderr)
