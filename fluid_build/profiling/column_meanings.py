"""What each column means: by itself, beside the others of its table, and by other tables' values.

A table's columns often begin alike (``PAT_SNAME``), and such a prefix hides a name's words; it is
left out, or stands for the table whose prefix it is (``LAB_PAT_NAME`` has a patient's name). And
words that are known as people's names in other columns are names of people there too, as are their
logins and numbers.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise
from statistics import fmean, pstdev

import duckdb

from fluid_build.lexicon import meanings
from fluid_build.profiling.measure.figures import ColumnStats
from fluid_build.profiling.measure.schema import MeasuredTable
from fluid_build.profiling.measure.tables import value_text
from fluid_build.profiling.names.concepts import read_concepts
from fluid_build.profiling.profile import NO_STATISTICS, ColumnProfile, Profile, TableProfile
from fluid_build.profiling.semantic_types import ColumnFacts, SemanticType, classify, subject_of
from fluid_build.profiling.semantic_types.column_facts import family_of, parse_number
from fluid_build.profiling.semantic_types.name_grades import describes_people
from fluid_build.profiling.semantic_types.person_names import claim_of, measure_names
from fluid_build.sources.base import ENTRY
from fluid_build.sources.declarations.catalog_facts import CatalogFacts
from fluid_build.sources.sql import literal, quote

_NEXT_TO_PERSONAL = 0.5
"""How sure it is that text next to personal data is personal: often it isn't."""
_FEWEST_ALIKE = 3
"""Fewer names begin with the same letters by accident."""
_KNOWN_ELSEWHERE = "person_name", "username", "national_id", "phone", "card_number"
"""What somebody is known by in other tables too: as a key, or as words of a name."""
_SHARED = (3, 1.0), (12, 0.9), (30, 0.6)
"""Of so many words or values, the share that must be known: the few towns of a shop are somebody's
surnames, and some people are in one table only."""
_FEWEST_OTHERWISE_NAMED = 12
"""Values or words of a column that isn't called as one that has them; fewer are by accident."""
_SHAPED = 0.8
"""The share of values that must be shaped like names for a look at the known ones."""
_MOST_LOOKS = 200
"""Columns that are looked into for the words of all others; each look is a query."""
_SHARED_CONFIDENCE = 0.7  # The same words in two tables may also be the towns of both.

_FEWEST_PLACES = 12
"""Different positions; fewer numbers are within degrees by accident."""
_DECIMALS = range(4, 9)
"""Of degrees: 4 are eleven metres, 8 a millimetre. What was computed has more."""
_PRECISE = 0.8
"""The share of values with that many: a last zero isn't written."""
_FROM_ZERO = 3
"""Standard deviations between zero and the mean of one region's positions: noise is around zero."""
_GLOBAL = 25.0, 60.0
"""Degrees of latitude and longitude beyond which positions all over the world lie."""
_MOST_LETTERS = 3
"""Of a word in a name that says nothing: x, lo, geo."""
_PAIR_CONFIDENCE = 0.6  # Measurements of four decimals may lie in a narrow range as well.

_Prefixes = Mapping[str, str]
"""What the prefix of each table's columns stands for: the word for its rows, or nothing."""


def column_meanings(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[MeasuredTable]
) -> list[list[SemanticType | None]]:
    """Return what each column of each table means, in order."""
    prefixes = _prefixes(tables)
    meanings = [_with_positions(table, _meanings(table, prefixes)) for table in tables]
    for kind in _KNOWN_ELSEWHERE:
        # What was found by its values is known to others of its name.
        while _add_known_elsewhere(connection, tables, meanings, kind):
            pass
    return meanings


def _add_known_elsewhere(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[MeasuredTable],
    meanings: Sequence[list[SemanticType | None]],
    kind: str,
) -> bool:
    """Add the meaning of columns whose values, or words, are in columns that have that meaning.

    Returns whether there were such columns.
    """
    places = [(at, i) for at, row in enumerate(meanings) for i in range(len(row))]
    known = [
        (at, i)
        for at, i in places
        if (meaning := meanings[at][i]) is not None and meaning.name == kind
    ]
    names = {tables[at].stats.columns[i].name.lower() for at, i in known}
    unknown = {
        (at, i): found
        for at, i in (places if known else ())
        if meanings[at][i] is None and (found := _values(tables[at], i, kind, names))
    }
    if not unknown:
        return False
    listed = ", ".join(literal(text) for text in sorted(set().union(*unknown.values())))
    shared: set[str] = set()
    for at, i in known[:_MOST_LOOKS]:
        name = f"lower(trim(CAST({quote(tables[at].stats.columns[i].column.alias)} AS VARCHAR)))"
        texts = f"unnest(regexp_extract_all({name}, '\\p{{L}}{{3,}}'))" if kind == _NAMES else name
        relation = tables[at].stats.table.relation
        rows = connection.execute(
            f"SELECT DISTINCT text FROM (SELECT {texts} AS text FROM {relation})"
            f" WHERE text IN ({listed})"
        ).fetchall()
        shared.update(row[0] for row in rows)
    added = {}
    for place, found in unknown.items():
        share = len(found & shared) / len(found)
        if any(len(found) >= fewest and share >= least for fewest, least in _SHARED):
            what = "words" if kind == _NAMES else "values"
            reason = f"{share:.0%} of its {what} are in columns that hold the same of people."
            added[place] = SemanticType(kind, True, _SHARED_CONFIDENCE, reason)
    for (at, i), meaning in added.items():
        meanings[at][i] = meaning
    return bool(added)


_NAMES = "person_name"
_WORD = re.compile(r"[^\W\d_]{3,}")
"""Of a name; shorter ones are initials, titles and particles."""


def _values(table: MeasuredTable, position: int, kind: str, names: Set[str]) -> set[str]:
    """Return a column's values in lower case, or their words, if they may be somebody's.

    ``names`` are those of the columns that are known.
    """
    stats = table.stats.columns[position]
    is_alike = kind != _NAMES and stats.name.lower() in names
    fewest = _SHARED[0][0] if is_alike else _FEWEST_OTHERWISE_NAMED
    if family_of(stats.column.type) != "text" or stats.distinct < fewest:
        return set()
    texts = [value.strip().lower() for value, _ in stats.values if isinstance(value, str)]
    if kind != _NAMES:
        return set(texts)
    siblings = tuple(column.name for column in table.stats.columns if column is not stats)
    if claim_of(read_concepts(stats.name), read_concepts(table.name), siblings) is None:
        return set()
    return set(_WORD.findall(" ".join(texts))) if measure_names(texts).shaped >= _SHAPED else set()


def _prefixes(tables: Sequence[MeasuredTable]) -> _Prefixes:
    """Return the prefixes of tables, each with "person" where the table's rows are people."""
    found: dict[str, str] = {}
    for table in tables:
        names = [column.name for column in table.stats.columns]
        prefix = _shared_prefix(names)
        if prefix:
            own = tuple(_without_prefix(name, prefix, "") for name in names)
            is_people = describes_people(read_concepts(table.name), own)
            found[prefix] = found.get(prefix) or ("person" if is_people else "")
    return found


def _shared_prefix(names: Sequence[str]) -> str:
    """Return the first word of most names in lower case where it has no meaning, or ""."""
    firsts = Counter(first for first, rest in map(_parts, names) if rest)
    if not firsts:
        return ""
    prefix, count = firsts.most_common(1)[0]
    is_shared = count >= _FEWEST_ALIKE and 2 * count > len(names)
    return prefix if is_shared and prefix not in meanings() else ""


def _parts(name: str) -> tuple[str, str]:
    """Return the first word of a name, in lower case, and the rest: pat, Sname of ``PatSname``."""
    if "_" not in name:
        hump = _HUMP.match(name)
        return (name[: hump.end()].lower(), name[hump.end() :]) if hump else (name, "")
    first, _, rest = name.partition("_")
    return first.lower(), rest


_HUMP = re.compile("(?:[A-Z]?[a-z]+|[A-Z]+(?=[A-Z][a-z]))(?=[A-Z])")
"""The first word of a name in camel case."""


def _without_prefix(name: str, prefix: str, instead: str) -> str:
    first, rest = _parts(name)
    if not rest or first != prefix:
        return name
    return f"{instead}_{rest}" if instead else rest


def _unprefixed(name: str, own: str, prefixes: _Prefixes) -> str:
    """Return a name without its table's prefix, and with the word for another table's."""
    bare = _without_prefix(name, own, "") if own else name
    first = _parts(bare)[0]
    return _without_prefix(bare, first, prefixes[first]) if first in prefixes else bare


def _with_positions(
    table: MeasuredTable, meanings: list[SemanticType | None]
) -> list[SemanticType | None]:
    """Return the meanings with those of a latitude and a longitude whose names say nothing."""
    found = list(meanings)
    reason = "It and the column beside it are within degrees, and as precise as positions."
    for i, (first, second) in enumerate(pairwise(table.stats.columns)):
        if found[i] is None and found[i + 1] is None and _are_positions(first, second):
            found[i] = SemanticType("latitude", True, _PAIR_CONFIDENCE, reason)
            found[i + 1] = SemanticType("longitude", True, _PAIR_CONFIDENCE, reason)
    return found


def _are_positions(first: ColumnStats, second: ColumnStats) -> bool:
    """Return whether ``x`` and ``y`` are a position on earth: decimals of noise are around zero."""
    if not (_says_nothing(first.name) and _says_nothing(second.name)):
        return False
    latitudes, longitudes = _degrees(first, 90), _degrees(second, 180)
    if min(len(latitudes), len(longitudes)) < _FEWEST_PLACES:
        return False
    is_global = max(map(abs, latitudes)) > _GLOBAL[0] and max(map(abs, longitudes)) > _GLOBAL[1]
    return is_global or _is_region(latitudes) or _is_region(longitudes)


def _says_nothing(name: str) -> bool:
    concepts = read_concepts(name)
    return not concepts.concepts and all(len(word) <= _MOST_LETTERS for word in concepts.unknown)


def _degrees(stats: ColumnStats, limit: int) -> list[float]:
    """Return a column's values if they're numbers within a limit, as precise as positions."""
    if family_of(stats.column.type) != "decimal" and stats.measured_type != "DOUBLE":
        return []
    texts = [value_text(value) or "" for value, _ in stats.values]
    numbers = [number for text in texts if (number := parse_number(text)) is not None]
    precise = sum(len(text.partition(".")[2].rstrip("0")) in _DECIMALS for text in texts)
    within = all(abs(number) <= limit for number in numbers)
    is_precise = precise >= _PRECISE * len(texts)
    return numbers if within and is_precise and len(numbers) == len(texts) else []


def _is_region(degrees: Sequence[float]) -> bool:
    return abs(fmean(degrees)) > _FROM_ZERO * pstdev(degrees) > 0


def _classify(
    table: MeasuredTable, position: int, names: tuple[str, ...], shared: str, prefixes: _Prefixes
) -> SemanticType | None:
    """Return what a column means; ``shared`` is the prefix that its table's ``names`` share."""
    stats = table.stats.columns[position]
    name, subject, siblings = _surroundings(table, position, names)
    own = shared if not stats.column.path else ""
    facts = ColumnFacts(
        table=subject,
        column=_unprefixed(name, own, prefixes),
        type=stats.column.type,
        rows=stats.rows,
        nulls=stats.nulls,
        distinct=stats.distinct,
        values=tuple(value for value, _ in stats.values),
        min=value_text(stats.low),
        max=value_text(stats.high),
        siblings=tuple(_unprefixed(sibling, own, prefixes) for sibling in siblings),
        documents=tuple(stats.documents),
    )
    return classify(facts)


def _surroundings(
    table: MeasuredTable, position: int, names: tuple[str, ...]
) -> tuple[str, str, tuple[str, ...]]:
    """Return a column's name, what it's about, and the names next to it.

    Where its value was nested, these are those of its document: ``customer__contact__email`` is the
    ``email`` of a contact.
    """
    stats = table.stats.columns[position]
    path, split = _field_path(stats), table.stats.table.split
    if not path or split is None:
        return stats.name, table.name, names[:position] + names[position + 1 :]
    near = tuple(
        other[-1]
        for column in table.stats.columns
        if column is not stats and (other := _field_path(column))[:-1] == path[:-1] and other
    )
    return path[-1], subject_of(reversed(path[:-1]), split.documents.table.name), near


def _field_path(stats: ColumnStats) -> tuple[str, ...]:
    return tuple(part for part in stats.column.path if part != ENTRY)


def _meanings(table: MeasuredTable, prefixes: _Prefixes) -> list[SemanticType | None]:
    """Return what each column means.

    Text in an object that has personal data is personal too: an unusual name next to an e-mail
    address is somebody's.
    """
    names = tuple(stats.name for stats in table.stats.columns)
    shared = _shared_prefix(names)
    meanings = [_classify(table, i, names, shared, prefixes) for i in range(len(names))]
    paths = [stats.column.path for stats in table.stats.columns]
    personal = {
        path[:-1]
        for path, meaning in zip(paths, meanings, strict=True)
        if len(path) > 1 and meaning is not None and meaning.pii
    }
    return [
        _next_to_personal(meaning)
        if stats.kind == "text"
        and (meaning is None or not meaning.pii)
        and any(stats.column.path[: len(scope)] == scope for scope in personal)
        else meaning
        for stats, meaning in zip(table.stats.columns, meanings, strict=True)
    ]


def _next_to_personal(meaning: SemanticType | None) -> SemanticType:
    name = "nested" if meaning is None else meaning.name
    reason = "It's text in an object that has personal data."
    return SemanticType(name, True, _NEXT_TO_PERSONAL, reason)


# The words that catalogs and their classifiers use; Snowflake's own tag is PRIVACY_CATEGORY.
_PERSONAL = re.compile(
    r"(?<![a-z0-9])(pii|phi|gdpr|personal|personally|privacy[_ ]category)(?![a-z0-9])",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?<![a-z0-9])(no|not|non|none|false|without|excluded|public)(?![a-z0-9])", re.IGNORECASE
)


def _is_personal_tag(tag: str) -> bool:
    """Return whether a tag says that its column holds personal data: ``PII``, ``gdpr:yes``."""
    return bool(_PERSONAL.search(tag)) and not _DENIED.search(tag)


def with_tagged_columns(profile: Profile) -> Profile:
    """Return the profile with each column that the catalog tags as personal taken for personal.

    The values of such a column aren't kept.
    """
    catalog = profile.catalog
    if catalog is None:
        return profile
    tables = tuple(_with_tags(table, catalog) for table in profile.tables)
    return profile.model_copy(update={"tables": tables})


def _with_tags(table: TableProfile, catalog: CatalogFacts) -> TableProfile:
    facts = catalog.tables.get(table.name)
    if facts is None:
        return table
    columns = tuple(
        _with_tag(column, facts.column_tags.get(column.name, ()), catalog.catalog)
        for column in table.columns
    )
    return table.model_copy(update={"columns": columns})


def _with_tag(column: ColumnProfile, tags: tuple[str, ...], catalog: str) -> ColumnProfile:
    tag = next(filter(_is_personal_tag, tags), None)
    if tag is None or column.pii:
        return column
    return column.model_copy(
        update={
            "pii": True,
            "min": None,
            "max": None,
            "top_values": (),
            **NO_STATISTICS,
            "semantic_reason": column.semantic_reason or f"Tagged {tag} in {catalog}.",
        }
    )
