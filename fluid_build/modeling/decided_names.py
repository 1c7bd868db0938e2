"""The names that decisions give to tables and columns, and those that can't be given."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.decisions.language import Rename
from fluid_build.decisions.verdicts import Refusal
from fluid_build.modeling.conceptual import ConceptualModel, Entity
from fluid_build.modeling.identifiers import identifier


@dataclass(frozen=True, slots=True)
class DecidedNames:
    """Renamings of tables and of columns that apply, and why others don't.

    Columns are by their table and their own name.
    """

    tables: Mapping[str, Rename]
    columns: Mapping[tuple[str, str], Rename]
    refusals: Mapping[Rename, Refusal]


def decided_names(conceptual: ConceptualModel, renamings: Iterable[Rename]) -> DecidedNames:
    """Return the names that tables and columns get; of two for the same, the later one counts.

    A name is refused where another table of the source, or another column of its table, has it
    once all renamings are done. So two tables may swap their names.
    """
    tables: dict[str, Rename] = {}
    columns: dict[str, dict[str, Rename]] = defaultdict(dict)
    refusals: dict[Rename, Refusal] = {}
    for renaming in renamings:
        if renaming.table is None:
            continue
        requested = tables if renaming.column is None else columns[renaming.table]
        name = renaming.column or renaming.table
        if requested.get(name, renaming) != renaming:
            refusals[requested[name]] = Refusal("unused", "A later decision renames it again.")
        requested[name] = renaming

    def refuse_table(renaming: Rename, owner: str) -> None:
        message = f"The table `{owner}` has the name `{renaming.new_name}` already."
        refusals[renaming] = Refusal("refused", message)

    def refuse_column(renaming: Rename, owner: str) -> None:
        message = f"`{renaming.table}.{owner}` has the name `{renaming.new_name}` already."
        refusals[renaming] = Refusal("refused", message)

    entities = {entity.name: entity for entity in conceptual.entities}
    settled = {
        (table, column): renaming
        for table, requested in columns.items()
        if table in entities
        for column, renaming in _settled(
            [attribute.name for attribute in entities[table].attributes], requested, refuse_column
        ).items()
    }
    return DecidedNames(_settled([*entities], tables, refuse_table), settled, refusals)


def with_decided_names(conceptual: ConceptualModel, names: DecidedNames) -> ConceptualModel:
    """Return the conceptual layer with the decided names."""
    if not names.tables and not names.columns:
        return conceptual
    entities = tuple(_with_names(entity, names) for entity in conceptual.entities)
    return conceptual.model_copy(update={"entities": entities})


def _with_names(entity: Entity, names: DecidedNames) -> Entity:
    of_table = names.tables.get(entity.name)
    attributes = tuple(
        attribute.model_copy(update={"new_name": renaming.new_name})
        if (renaming := names.columns.get((entity.name, attribute.name))) is not None
        else attribute
        for attribute in entity.attributes
    )
    new_name = None if of_table is None else of_table.new_name
    return entity.model_copy(update={"new_name": new_name, "attributes": attributes})


def _settled(
    names: Sequence[str],
    requested: Mapping[str, Rename],
    refuse: Callable[[Rename, str], None],
) -> dict[str, Rename]:
    """Return the renamings after which no two names are the same; the others are refused.

    Names are compared as identifiers, since that's how relations are named.
    """
    settled = {name: requested[name] for name in requested if name in names}
    while True:
        owners: dict[str, list[str]] = defaultdict(list)
        for name in names:
            label = settled[name].new_name if name in settled else name
            owners[identifier(label)].append(name)
        clashes = [clash for group in owners.values() for clash in _clashes(group, settled)]
        if not clashes:
            return settled
        for name, owner in clashes:
            refuse(settled.pop(name), owner)


def _clashes(group: Sequence[str], settled: Mapping[str, Rename]) -> list[tuple[str, str]]:
    """Return the renamed ones that clash, each with the one that keeps the name."""
    renamed = [name for name in settled if name in group]
    keepers = [name for name in group if name not in settled] or renamed[:1]
    return [(name, keepers[0]) for name in renamed if name not in keepers]
