"""Whether the keys of a table still hold."""

from collections.abc import Iterable, Iterator, Mapping, Set

from fluid_build.changes.change import ChangeEvidence, ChangeKind, Effect, SourceChange
from fluid_build.profiling import checks
from fluid_build.profiling.profile import Evidence, TableProfile
from fluid_build.text import counted, listed

_MANY_REPEATS = 0.1
"""The share of rows from which repeats are a rule and not a fault: the key has become longer."""

Key = tuple[str, ...]


def key_changes(before: TableProfile, after: TableProfile) -> Iterator[SourceChange]:
    """Return the keys that held, and don't any more: the primary and the declared ones.

    Other candidate keys may have been chance. A key whose columns aren't all there is no key any
    more, which the change of its columns says.
    """
    there = {column.name for column in after.columns}
    for key in _relied_on(before):
        if after.rows and there.issuperset(key) and not key_holds(after, key):
            yield from _broken(before, after, key)


def _relied_on(table: TableProfile) -> dict[Key, None]:
    """Return the primary and declared keys that held, each once."""
    evidence = table.primary_key_evidence
    keys = [claim.columns for claim in table.declared_keys if claim.holds]
    if table.primary_key and (evidence is None or _is_kept(evidence)):
        keys.insert(0, table.primary_key)
    # The same columns in another order are the same key.
    return dict.fromkeys({frozenset(key): key for key in reversed(keys)}.values())


def key_holds(table: TableProfile, key: Key) -> bool:
    """Return whether a profile knows that columns identify the rows of a table."""
    columns = set(key)
    if any(columns.issuperset(candidate) for candidate in table.candidate_keys):
        return True
    evidence = _evidence_of(table, columns)
    return evidence is not None and _is_kept(evidence)


def _is_kept(evidence: Evidence) -> bool:
    return not evidence.violations and not evidence.nulls


def _evidence_of(table: TableProfile, columns: Set[str]) -> Evidence | None:
    """Return what is measured of a key today, None where it isn't declared any more."""
    for claim in table.declared_keys:
        if set(claim.columns) == columns:
            return claim.evidence
    if table.primary_key and set(table.primary_key) == columns:
        return table.primary_key_evidence
    return None


def _broken(before: TableProfile, after: TableProfile, key: Key) -> Iterator[SourceChange]:
    nulls = max(after.column(name).nulls for name in key)
    repeats = key_repeats(after, key)
    if repeats == 0 and not nulls:
        return
    other = _longer(before, after, key, repeats) or other_key(before, after, key)
    sampled = before.sample is not None or after.sample is not None
    evidence = ChangeEvidence(
        rows_before=before.rows,
        rows=after.rows,
        nulls=nulls,
        violations=repeats,
        is_sampled=sampled,
        sql=checks.repeated_or_null_values(after.sql, key),
    )
    yield broken_key(before.name, key, evidence, other)


def broken_key(table: str, key: Key, evidence: ChangeEvidence, other: Key = ()) -> SourceChange:
    """Return the change of a key that doesn't hold; ``other`` is one that does, perhaps longer.

    ``evidence.violations`` are the rows of repeated keys beyond the first of each; None where
    nobody counted them.
    """
    faults = []
    if evidence.violations is None:
        faults.append("isn't unique any more" if not evidence.nulls else "may repeat")
    elif evidence.violations:
        faults.append(f"repeats in {counted(evidence.violations, 'row')}")
    if evidence.nulls:
        faults.append(f"is null in {counted(evidence.nulls, 'row')}")
    label = f"{table} ({', '.join(key)})"
    sentence = f"the key of {label} {listed(faults)} now"
    is_longer = set(other) > set(key)
    if is_longer:
        sentence += f"; with {listed([name for name in other if name not in key])} it holds"
    return SourceChange(
        kind=ChangeKind.KEY_WIDENED if is_longer else ChangeKind.KEY_BROKEN,
        table=table,
        columns=key,
        to_columns=other,
        before=", ".join(key),
        after=", ".join(other) or None,
        effect=Effect.NEEDS_DECISION if is_longer else Effect.BREAKS,
        sentence=sentence if is_longer else sentence + identified_by(other),
        evidence=evidence,
    )


def other_key(before: TableProfile, after: TableProfile, key: Key) -> Key:
    """Return the key of today where it's another one than before, and holds; else nothing.

    What was there before as well, and isn't declared to be the key, may be unique by chance.
    """
    known = {column.name for column in before.columns}
    candidates = [after.primary_key or (), *(claim.columns for claim in after.declared_keys)]
    candidates += sorted(after.candidate_keys, key=len)
    declared = {claim.columns for claim in after.declared_keys}
    for candidate in candidates:
        is_another = bool(candidate) and not set(candidate) <= set(key)
        is_meant = candidate in declared or not known.issuperset(candidate)
        if is_another and is_meant and key_holds(after, candidate):
            return candidate
    return ()


def identified_by(key: Key) -> str:
    """Return the end of a sentence: what rows are told apart by now, "" where nobody knows."""
    return (
        f"; {listed(key)} {'identifies' if len(key) == 1 else 'identify'} its rows" if key else ""
    )


_OF_KEYS = frozenset({ChangeKind.KEY_BROKEN, ChangeKind.KEY_WIDENED, ChangeKind.COLUMN_DROPPED})


def with_decided_keys(
    changes: Iterable[SourceChange], keys: Mapping[str, Key]
) -> Iterator[SourceChange]:
    """Yield changes, of which those ask nothing that broke the key of a table with a decided one.

    ``keys`` are by the earlier names of tables.
    """
    for change in changes:
        key = keys.get(change.table, ())
        is_asked = change.kind in _OF_KEYS and change.effect is not Effect.SAFE
        if not key or not is_asked or set(key) == set(change.columns):
            yield change
            continue
        sentence = (
            f"{change.sentence.partition(';')[0]}, and {listed(key)} is decided to be the key"
        )
        yield change.model_copy(update={"effect": Effect.SAFE, "sentence": sentence})


def key_repeats(table: TableProfile, key: Key) -> int | None:
    """Return the rows of repeated keys beyond the first of each, None where nobody counted."""
    measured = _evidence_of(table, set(key))
    if len(key) > 1:
        if measured is None or measured.distinct is None:
            return None
        return measured.rows - measured.distinct
    column = table.column(key[0])
    if column.distinct_exact:
        return column.rows - column.nulls - column.distinct
    return None


def _longer(before: TableProfile, after: TableProfile, key: Key, repeats: int | None) -> Key:
    """Return a key of one column more that holds, and that isn't so by chance; else nothing.

    With a few repeats nearly any column makes a key. So the column is new, or today's primary key
    has it and the repeats are many.
    """
    known = {column.name for column in before.columns}
    candidates = [
        (*key, name)
        for candidate in after.candidate_keys
        for name in sorted(set(candidate) - set(key))
        if set(candidate) <= {*key, name} and set(candidate) & set(key)
    ]
    many = repeats is None or repeats >= _MANY_REPEATS * after.rows
    for longer in candidates:
        is_new = longer[-1] not in known
        is_primary = after.primary_key is not None and set(after.primary_key) == set(longer)
        if is_new or (is_primary and many):
            return longer
    return ()
