"""``fluid memory``: what earlier forges left for later ones, to look at and to forget."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Column

from fluid_build.cli import failures, messages
from fluid_build.cli.options import Debug, Json
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.store.configured import open_store
from fluid_build.errors import UsageError
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import first_line, indented, more, text, unbroken
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.text import clip, counted, did_you_mean

MEMORIES = ("memory/episodic", "memory/semantic")
"""The store's namespaces of memory: what runs did, and what models looked like."""

_DEFAULT_LIMIT = 20
_LONGEST_TEXT = 100

Limit = Annotated[int, typer.Option("--limit", min=1, max=1000, help="The most records to show.")]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A remembered record; ``score`` says how well it fits a search."""

    namespace: str
    key: str
    text: str
    value: Any
    score: float | None = None

    @property
    def address(self) -> str:
        """Return the name by which commands know it: ``semantic/shop``."""
        return f"{self.namespace.removeprefix('memory/')}/{self.key}"


def list_memory(limit: Limit = _DEFAULT_LIMIT, json: Json = False, _debug: Debug = False) -> int:
    """List what is remembered of earlier forges.

    It holds names and figures, never values of rows.

    \b
    Example:  fluid memory list
    """
    with closing(open_store()) as store:
        memories = list(_all(store))
    if json:
        messages.show_json({"memories": [_document(m) for m in memories[:limit]]})
    else:
        _show_list(memories, limit, "Nothing is remembered yet: run `fluid forge` first.")
    return failures.DONE


def search_memory(
    query: Annotated[str, typer.Argument(metavar="WORDS", help="What to look for.")],
    limit: Limit = _DEFAULT_LIMIT,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Search what is remembered by words.

    \b
    Example:  fluid memory search "customer orders"
    """
    with closing(open_store()) as store:
        memories = sorted(_hits(store, query, limit), key=lambda m: (-(m.score or 0), m.address))
    if json:
        messages.show_json({"memories": [_document(m) for m in memories[:limit]]})
    else:
        _show_list(memories, limit, f"Nothing that is remembered has the words {query!r}.")
    return failures.DONE


def show_memory(
    address: Annotated[str, typer.Argument(metavar="NAME", help="As `fluid memory list` says it.")],
    _debug: Debug = False,
) -> int:
    """Show one record in full, as JSON.

    \b
    Example:  fluid memory show semantic/shop
    """
    with closing(open_store()) as store:
        memory = _of_address(store, address)
    messages.show_json(_document(memory) | {"value": memory.value})
    return failures.DONE


def forget_memory(
    addresses: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="The records to forget.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget all records.")] = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Forget records for good.

    \b
    Example:  fluid memory forget semantic/shop
    """
    if bool(addresses) == everything:
        raise UsageError(
            "Name the records to forget, or pass --all.",
            hint="`fluid memory list` shows their names.",
        )
    with closing(open_store()) as store:
        memories = (
            list(_all(store))
            if everything
            else [_of_address(store, address) for address in addresses or ()]
        )
        for memory in memories:
            store.delete(memory.namespace, memory.key)
    if json:
        messages.show_json({"forgotten": [memory.address for memory in memories]})
    else:
        show([text(f"Forgot {counted(len(memories), 'record')}.")])
    return failures.DONE


def _all(store: Store) -> Iterator[MemoryRecord]:
    for namespace in MEMORIES:
        keys = store.keys(namespace)
        records = store.get_many(namespace, keys)
        for key in keys:
            if key in records:  # another process may have just deleted it
                record = records[key]
                yield MemoryRecord(namespace, key, record.text, record.value)


def _hits(store: Store, query: str, limit: int) -> Iterator[MemoryRecord]:
    for namespace in MEMORIES:
        scores = {hit.key: hit.score for hit in store.search(namespace, query, limit)}
        for key, record in store.get_many(namespace, list(scores)).items():
            yield MemoryRecord(namespace, key, record.text, record.value, scores[key])


def _of_address(store: Store, address: str) -> MemoryRecord:
    kind, _, key = address.partition("/")
    namespace = f"memory/{kind}"
    record = store.get_many(namespace, [key]).get(key) if namespace in MEMORIES else None
    if record is None:
        addresses = [memory.address for memory in _all(store)]
        raise UsageError(
            f"Nothing is remembered under {address!r}.",
            hint=f"{did_you_mean(address, addresses)}`fluid memory list` shows the names.",
        )
    return MemoryRecord(namespace, key, record.text, record.value)


def _document(memory: MemoryRecord) -> dict[str, object]:
    document: dict[str, object] = {"name": memory.address, "text": memory.text}
    if memory.score is not None:
        document["score"] = round(memory.score, 4)
    return document


def _show_list(memories: list[MemoryRecord], limit: int, nothing: str) -> None:
    if not memories:
        show([text(nothing)])
        return
    grid = Grid(Column("name", style="cyan"), "about")
    for memory in memories[:limit]:
        grid.add_row(
            unbroken(memory.address), text(clip(" ".join(memory.text.split()), _LONGEST_TEXT))
        )
    show(
        [
            first_line("Memory", counted(len(memories), "record")),
            indented(grid),
            *more(len(memories) - limit, ": see --limit"),
        ]
    )
