"""Promises about the source's columns, as tests of the relations that carry these columns.

A technique splits tables; each promise follows its columns to the relation that has them. Promises
that no relation of the technique can keep are listed, with the reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.modeling.conceptual import ConceptualModel, Entity
from fluid_build.modeling.sql_names import SqlNames, fit, free_identifier
from fluid_build.transform.plan.elements import (
    EVERY_ROW,
    OF_THE_LOAD,
    Build,
    BuildTest,
    RowScope,
    UnstatedPromise,
)
from fluid_build.transform.plan.evidence_tests import (
    evidence_tests,
    is_promised,
    reference_promise,
)


@dataclass(frozen=True, slots=True)
class Carrier:
    """A relation that holds attributes of an entity, with the column of each attribute.

    ``is_whole`` says that the rows in ``scope`` are those of the entity; unless ``is_once``, a row
    may represent several, or several one. In relations that aren't whole, a row of the entity may
    occur several times or not at all. ``unknown`` is the text that a column has where there's no
    row of the entity. ``keys`` are the columns that are unique if those attributes are, ``hashed``
    the hash that is never null if that attribute isn't.
    """

    relation: str
    columns: Mapping[str, str]
    scope: RowScope = EVERY_ROW
    is_whole: bool = True
    is_once: bool = True
    unknown: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[frozenset[str], tuple[str, ...]] = field(default_factory=dict)
    hashed: Mapping[str, str] = field(default_factory=dict)


_COLLAPSED = "no relation has both ends and a row for each of its rows; its staging's test has"
Carriers = Mapping[str, Sequence[Carrier]]
"""By entity the relations that carry it, the best first."""


@dataclass(frozen=True, slots=True)
class _Promise:
    """A test of the flat table of an entity, and the attributes that it's about."""

    entity: Entity
    test: BuildTest
    attributes: tuple[str, ...]

    @property
    def name(self) -> str:
        """What is promised about which columns of the source."""
        return f"{self.test.kind} {self.entity.name}({', '.join(self.attributes)})"


def with_source_promises(
    builds: Sequence[Build], conceptual: ConceptualModel, names: SqlNames, carriers: Carriers
) -> tuple[tuple[Build, ...], tuple[UnstatedPromise, ...]]:
    """Return the builds with the promises that they carry, and the promises that none can keep.

    Techniques make tests of references themselves, because these use keys that a technique makes;
    references that no build tests are listed as well.
    """
    tests = {build.name: _Tests(build.tests) for build in builds}
    published = {build.name for build in builds if build.layer not in OF_THE_LOAD}
    unstated = []
    for promise in _promises(conceptual, names):
        of_entity = tuple(carriers.get(promise.entity.name, ()))
        placed = _placed(
            promise, [carrier for carrier in of_entity if carrier.relation in published]
        )
        if isinstance(placed, str):
            unstated.append(UnstatedPromise(promise=promise.name, reason=placed))
        else:
            relation, test = placed
            tests[relation].add(test)
    tested_promises = {test.promise for name in published for test in tests[name].tests}
    for carrier in conceptual.relationships:
        if is_promised(carrier) and reference_promise(carrier) not in tested_promises:
            unstated.append(UnstatedPromise(promise=reference_promise(carrier), reason=_COLLAPSED))
    return (
        tuple(
            build.model_copy(update={"tests": tuple(tests[build.name].tests)}) for build in builds
        ),
        tuple(unstated),
    )


def _promises(conceptual: ConceptualModel, names: SqlNames) -> Iterator[_Promise]:
    tests = evidence_tests(conceptual, names, names.tables)
    for entity in conceptual.entities:
        attributes = {
            names.column(entity.name, attribute.name): attribute.name
            for attribute in entity.attributes
        }
        for test in tests[entity.name]:
            if test.kind != "relationships":
                columns = tuple(attributes[column] for column in test.columns)
                yield _Promise(entity, test, columns)


def _placed(promise: _Promise, carriers: Sequence[Carrier]) -> tuple[str, BuildTest] | str:
    """Return the relation and test that keep a promise, or why there's none."""
    attributes = set(promise.attributes)
    for carrier in carriers:
        if not attributes <= carrier.columns.keys():
            continue
        scope = _scope(promise, carrier)
        if scope is not None:
            columns = tuple(carrier.columns[name] for name in promise.attributes)
            unknown = (carrier.unknown.get(name, "") for name in promise.attributes)
            return carrier.relation, promise.test.model_copy(
                update={
                    "name": fit(carrier.relation, *columns, promise.test.kind),
                    "columns": columns,
                    "values": (*promise.test.values, *filter(None, unknown))
                    if promise.test.kind == "accepted_values"
                    else (),
                    "scope": scope,
                    "promise": promise.name,
                }
            )
    for carrier in carriers:
        columns = _standing_for(promise, carrier)
        if columns:
            return carrier.relation, promise.test.model_copy(
                update={
                    "name": fit(carrier.relation, *columns, promise.test.kind),
                    "columns": columns,
                    "promise": promise.name,
                }
            )
    if any(attributes <= carrier.columns.keys() for carrier in carriers):
        return "its columns are in rows of another table, where they may repeat or be missing"
    return "no relation has all of its columns; the staging and the proof check it"


def _standing_for(promise: _Promise, carrier: Carrier) -> tuple[str, ...]:
    """Return the columns that a technique made of a promise's columns, and that keep it."""
    if promise.test.kind == "unique":
        return carrier.keys.get(frozenset(promise.attributes), ())
    (attribute, *more) = promise.attributes
    is_hashed = promise.test.kind == "not_null" and not more and attribute in carrier.hashed
    return (carrier.hashed[attribute],) if is_hashed else ()


def _scope(promise: _Promise, carrier: Carrier) -> RowScope | None:
    """Return the rows that a carried promise is about; None where it would say nothing."""
    kind = promise.test.kind
    if kind == "unique":
        is_trivial = set(carrier.scope.latest_of) == {
            carrier.columns[name] for name in promise.attributes
        }
        is_meaningful = carrier.is_whole and carrier.is_once and not is_trivial
        return carrier.scope if is_meaningful else None
    if carrier.is_whole or kind == "accepted_values":
        return carrier.scope
    key = promise.entity.primary_key
    present = key.attributes if key is not None else ()
    if not present or not set(present) <= carrier.columns.keys():
        return None
    if set(promise.attributes) & set(present):
        return None
    filled = tuple(carrier.columns[name] for name in present)
    return carrier.scope.model_copy(update={"filled": (*carrier.scope.filled, *filled)})


class _Tests:
    """The tests of a relation, with the places of those of the same kind on the same columns."""

    def __init__(self, tests: Sequence[BuildTest]) -> None:
        self.tests = list(tests)
        self._names = {test.name for test in tests}
        self._places: dict[tuple[str, frozenset[str]], list[int]] = {}
        for place, test in enumerate(tests):
            self._places.setdefault(_subject(test), []).append(place)

    def add(self, test: BuildTest) -> None:
        """Add a test, or name the promise on an existing one that says as much or more."""
        places = self._places.setdefault(_subject(test), [])
        for place in places:
            known = self.tests[place]
            if not known.promise and _says_as_much(known, test):
                self.tests[place] = known.model_copy(update={"promise": test.promise})
                return
        name = free_identifier(test.name, self._names)
        places.append(len(self.tests))
        self._names.add(name)
        self.tests.append(test.model_copy(update={"name": name}))


def _subject(test: BuildTest) -> tuple[str, frozenset[str]]:
    return test.kind, frozenset(test.columns)


def _says_as_much(known: BuildTest, test: BuildTest) -> bool:
    """Return whether a test says as much as another one of the same kind on the same columns."""
    of_all = known.scope == EVERY_ROW and test.kind == "not_null"
    return (known.scope == test.scope or of_all) and known.allowed <= test.allowed
