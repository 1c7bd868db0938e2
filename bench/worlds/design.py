"""The tables of a made-up database without their rows: names, keys, references, attributes."""

import random
from collections.abc import Iterable
from dataclasses import replace

from bench.worlds.domains import Entity, Reference
from bench.worlds.habits import Habits
from bench.worlds.hazards import SCOPES
from bench.worlds.tables import Column, Link, Table

_COMMON_ATTRIBUTES = (
    "status", "type", "level", "score", "count", "note", "year", "percent", "rank", "value", "code",
    "active", "version", "quantity", "date", "name", "reference",
)  # fmt: skip
_CHANGING = frozenset({"master", "event", "of", "is"})
_MEASURES = (
    "count", "rate", "total", "score", "points", "quantity", "amount", "duration", "distance",
    "minutes", "wins", "losses", "goals", "assists", "cost", "value", "deaths", "income",
)  # fmt: skip
_QUALIFIERS = ("home", "away", "first", "last", "min", "max", "mean", "day", "month", "production")


class Designer:
    """Draws the tables of one database."""

    def __init__(self, rng: random.Random, habits: Habits) -> None:
        self.rng = rng
        self.habits = habits
        self.style = habits.style
        self.tables: dict[str, Table] = {}
        self._used_names: set[str] = set()
        self._used_initials: set[str] = set()

    def design(self, entities: dict[str, Entity]) -> list[Table]:
        """Return the tables of entities, the identifying parents of each before it."""
        if self.habits.scope:
            scope = self.habits.scope
            self._add_table(Entity(scope, "lookup", (), (), (), ("name",)))
            self._identify(self.tables[scope])
        for entity in entities.values():
            self._add_table(entity)
            self._identify(self.tables[entity.name])
        for table in list(self.tables.values()):
            self._refer(table)
            self._describe(table)
        if self.habits.has_copied_references:
            self._copy_references()
        if self.habits.scope and (self.habits.scope == "valid" or self.rng.random() < 0.4):
            self.tables[self.habits.scope].is_absent = True
        return list(self.tables.values())

    def _add_table(self, entity: Entity) -> None:
        style = self.style
        if self.habits.shape == "star" and style.table_prefix and entity.kind in {"fact", "of"}:
            style = replace(style, table_prefix="f" if style.table_prefix == "d" else "fact")
        name = self._unused(style.table(entity.name, self._module(entity)), self._used_names)
        self._used_names.add(name.lower())
        initials = self._unused(style.initials(entity.name), self._used_initials)
        self._used_initials.add(initials)
        self.tables[entity.name] = Table(entity, name, initials)

    def _module(self, entity: Entity) -> str:
        """Return the prefix of a table where modules have one: `core` for what many share."""
        if entity.kind == "lookup" and self.rng.random() < 0.5:
            return "ref"
        return self.habits.domains[len(self.tables) % len(self.habits.domains)][:5]

    @staticmethod
    def _unused(name: str, used: Iterable[str]) -> str:
        candidate, number = name, 2
        while candidate.lower() in used:
            candidate, number = f"{name}{number}", number + 1
        return candidate

    def _column(self, table: Table, words: list[str], content: str) -> Column:
        name = self.style.column(words, table.initials)
        if name.lower() in table.column_names() and content == "reference":
            words = [*self.style.words(table.entity.name), *words]
            name = self.style.column(words, table.initials)
        column = Column(self._unused(name, table.column_names()), words, content)
        table.columns.append(column)
        return column

    # Keys

    def _identify(self, table: Table) -> None:
        entity, habits = table.entity, self.habits
        if habits.scope and entity.name != habits.scope:
            link = self._link(table, Reference(habits.scope))
            table.tenant = link.columns[0]
        if entity.name == habits.scope == "valid":
            words = self.style.words("valid-date")
            table.key.append(self._column(table, words, "validity"))
        elif entity.kind == "fact":
            if self.rng.random() < 0.45:
                self._add_own_key(table, is_code=False)
        elif entity.kind == "calendar":
            words = self.style.own_key(entity.name, is_code=False)
            table.key.append(self._column(table, words, "calendar"))
        elif entity.kind == "is":
            self._share_key(table)
        elif not (entity.parts or entity.counters):
            self._add_own_key(table, is_code=habits.has_code_key(self.rng, entity))
        else:
            self._combine(table)
        if table.tenant and habits.is_scope_in_keys and table.tenant not in table.key:
            table.key.insert(0, table.tenant)

    def _add_own_key(self, table: Table, *, is_code: bool) -> None:
        if "authority in keys" in self.habits.hazards:
            table.key.append(self._column(table, self.style.words("source"), "authority"))
        words = self.style.own_key(table.entity.name, is_code=is_code)
        table.key.append(self._column(table, words, "code" if is_code else "surrogate"))

    def _share_key(self, table: Table) -> None:
        """Give a subtype its supertype's key, under the supertype's name or its own."""
        reference = table.entity.parts[0]
        parent = self.tables[reference.entity]
        link = self._link(table, reference)
        column = link.columns[-1]
        column.content = "shared"
        link.nature = "subtype"
        if self.rng.random() < 0.5:
            words = self.style.own_key(table.entity.name, is_code=parent.has_code_key())
        else:
            words = parent.key[-1].words
        column.words, column.name = words, self.style.column(words, table.initials)
        table.identifying.append(link)
        table.key.extend(link.columns)

    def _combine(self, table: Table) -> None:
        """Let parents and counters identify the rows, as the key or next to a surrogate key."""
        is_key = self.habits.has_composite_key(self.rng, table.entity)
        if not is_key:
            self._add_own_key(table, is_code=False)
        combination = [table.tenant] if table.tenant and self.habits.is_scope_in_keys else []
        for part in table.entity.parts:
            link = self._link(table, part)
            table.identifying.append(link)
            combination += [column for column in link.columns if column not in combination]
        for counter in table.entity.counters:
            words = self.style.counter(counter, table.entity.name)
            column = self._column(table, words, f"counter {counter}")
            table.counters.append(column)
            combination.append(column)
        if is_key:
            table.key = combination
        else:
            table.unique.append(combination)

    # References

    def _refer(self, table: Table) -> None:
        for reference in table.entity.references:
            if reference.entity in self.tables:
                self._link(table, reference)
            elif self.habits.has_missing_parents and self.rng.random() < 0.5:
                words = self._reference_words(reference, is_code=False)
                self._column(table, words, "dangling")
        actors = self.habits.has_users and table.entity.kind in {"master", "event"}
        if actors and table.entity.name != "user" and self.rng.random() < 0.6:
            for role in ("created-by", "updated-by")[: self.rng.randint(1, 2)]:
                self._link(table, Reference("user", role, is_optional=role == "updated-by"))

    def _link(self, table: Table, reference: Reference, kind: str = "declared") -> Link:
        parent = self.tables[reference.entity]
        columns: list[Column] = []
        for key in parent.key:
            if key is parent.tenant:
                scope = Reference(self.habits.scope)
                shared = table.tenant or self._link(table, scope).columns[0]
                table.tenant = shared
                columns.append(shared)
                continue
            year = self._own_year(table) if key.content == "counter year" else None
            words = self._member_words(table, parent, key, reference)
            columns.append(year or self._column(table, words, "reference"))
        nature = _nature(table, reference)
        link = Link(columns, parent, list(parent.key), reference.is_optional, kind, nature)
        table.links.append(link)
        return link

    @staticmethod
    def _own_year(table: Table) -> Column | None:
        """Return the year that numbers a table's rows, which its references to seasons share."""
        return next((c for c in table.counters if c.content == "counter year"), None)

    def _member_words(
        self, table: Table, parent: Table, key: Column, reference: Reference
    ) -> list[str]:
        own = [column for column in parent.key if column is not parent.tenant]
        if self.style.column_prefix == "parent":
            role = self.style.words(reference.role) if reference.role else []
            return [*role, parent.initials, *key.words]
        if key.content == "validity":
            return key.words
        if len(own) == 1 and key.content in {"code", "surrogate", "calendar", "shared"}:
            return self._reference_words(reference, is_code=key.content == "code")
        words = list(key.words)
        if len(words) == 1 and key.content != "reference" and not _is_plain(key):
            words = [*self.style.words(parent.entity.name), *words]
        if self.habits.has_drifting_names and key.content.startswith("counter"):
            words = [*self.style.words(table.entity.name), *words]
        if "renamed members" in self.habits.hazards and key is own[-1]:
            words = [*self.style.words("target"), *key.words[-1:]]
        role = self.style.words(reference.role) if reference.role else []
        if "authority in keys" in self.habits.hazards:
            return [*(role or self.style.in_keys(reference.entity)), *key.words]
        return [*role, *words] if self.style.role_place == "before" else [*words, *role]

    def _reference_words(self, reference: Reference, *, is_code: bool) -> list[str]:
        words = self.style.reference(
            reference.entity, reference.role, is_qualifier=reference.is_qualifier, is_code=is_code
        )
        if self.habits.has_drifting_names and self.rng.random() < 0.25:
            longest = max(words, key=len)
            words = [word[:4] if word is longest and len(word) > 5 else word for word in words]
        return words

    def _copy_references(self) -> None:
        """Copy a grandparent's key into some tables, next to the parent's."""
        spots = [
            (table, link, above)
            for table in self.tables.values()
            for link in table.links
            for above in link.parent.links
            if link.parent is not table and above.parent is not link.parent
            and not link.is_optional and link.kind == above.kind == "declared"
            and above.parent is not table and len(above.columns) == 1
            and above.columns[0] not in link.parent.key
            and all(other.parent is not above.parent for other in table.links)
        ]  # fmt: skip
        for table, link, above in self.rng.sample(spots, min(len(spots), self.rng.randint(1, 4))):
            if any(other.parent is above.parent for other in table.links):
                continue
            column = self._column(table, above.columns[0].words, "reference")
            table.links.append(
                Link(
                    [column],
                    above.parent,
                    above.parent_columns,
                    True,
                    nature="copied",
                    via=(link, above),
                )
            )

    # Attributes

    def _describe(self, table: Table) -> None:
        attributes = list(table.entity.attributes)
        if table.entity.kind in {"master", "event"}:
            attributes += self.rng.sample(_COMMON_ATTRIBUTES, self.rng.choice((0, 0, 1, 2, 3)))
        if self.habits.has_audit_columns and table.entity.kind in _CHANGING:
            attributes += ["created-date", "updated-date"][: self.rng.randint(1, 2)]
            if self.rng.random() < 0.3:
                attributes.append("version")
        if table.entity.kind == "wide":
            attributes += self._measures(self.rng.randint(38, 95))
        entity = self.style.words(table.entity.name)
        for attribute in dict.fromkeys(attributes):
            if attribute in self.tables and table.entity.kind != "dimension":
                continue
            words = self.style.words(attribute)
            if attribute in {"name", "title", "status", "type", "code", "description"}:
                words = [*entity, *words] if self.habits.has_named_attributes else words
            if self.style.column(words, table.initials).lower() not in table.column_names():
                content = "calendar" if table.entity.kind == "calendar" else "attribute"
                self._column(table, words, f"{content} {attribute}")
        self._mix(table)

    def _measures(self, count: int) -> list[str]:
        names = [f"{qualifier}-{measure}" for measure in _MEASURES for qualifier in _QUALIFIERS]
        return [*_MEASURES[: count // 5], *self.rng.sample(names, count - count // 5)]

    def _mix(self, table: Table) -> None:
        """Spread references among attributes in some databases, behind the key."""
        first = [column for column in table.columns if column in table.key]
        remaining = [column for column in table.columns if column not in table.key]
        if self.rng.random() < 0.4:
            moved = [column for column in remaining if column.content == "reference"]
            remaining = [column for column in remaining if column not in moved]
            for column in moved:
                remaining.insert(self.rng.randint(0, len(remaining)), column)
        table.columns = [*first, *remaining]


def _is_plain(column: Column) -> bool:
    """Whether a key's member means the same in any table: a date, a language."""
    return column.content in {"counter date", "counter year", "counter month", "counter language"}


def _nature(table: Table, reference: Reference) -> str:
    """Return how a reference is named: for its parent, for a role of it, for a role alone."""
    if reference.entity == table.entity.name:
        return "own table"
    if reference.entity in SCOPES.values():
        return reference.entity
    if not reference.role:
        return "plain"
    return "parent and role" if reference.is_qualifier else "role alone"
