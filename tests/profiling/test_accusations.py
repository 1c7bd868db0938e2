"""What data is accused of is arithmetic: each figure is what the claim's own query finds."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source

Row: TypeAlias = tuple[int | None, str | None, int | None, str | None]

CHILD = "id integer, code text, number integer, part text"
PARENT = "number integer NOT NULL, part text NOT NULL"
KEYS = {
    "ONLY_UNIQUE": "CONSTRAINT a UNIQUE (code)",
    "NULLS_TOO": "CONSTRAINT b UNIQUE NULLS NOT DISTINCT (number, part)",
    "PRIMARY": "CONSTRAINT c PRIMARY KEY (id)",
}
values = st.one_of(st.none(), st.integers(0, 3))
words = st.one_of(st.none(), st.sampled_from(["", "a", "A", "a "]))
rows = st.lists(st.tuples(values, words, values, words), min_size=1, max_size=25)
parents = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "a", "A"])), min_size=1)


def dumped(folder: Path, children: Sequence[Row], parents: Sequence[tuple[int, str]]) -> Path:
    """Write a dump whose keys and references nobody has checked."""
    text = [f"CREATE TABLE public.child ({CHILD});", f"CREATE TABLE public.parent ({PARENT});"]
    for name, some in (("child", children), ("parent", parents)):
        text.append(f"COPY public.{name} FROM stdin;")
        text += ["\t".join("\\N" if v is None else str(v) for v in row) for row in some]
        text.append("\\.")
    text += [f"ALTER TABLE ONLY public.child ADD {key};" for key in KEYS.values()]
    text.append("ALTER TABLE ONLY public.parent ADD CONSTRAINT d PRIMARY KEY (number, part);")
    text.append(
        "ALTER TABLE ONLY public.child ADD CONSTRAINT e FOREIGN KEY (number, part)"
        " REFERENCES public.parent (number, part);"
    )
    path = folder / "dump.sql"
    path.write_text("\n".join(text) + "\n")
    return path


def repeated(some: Sequence[object]) -> int:
    return sum(count - 1 for count in Counter(some).values())


@given(rows, parents)
def test_a_contradiction_counts_the_rows_that_its_query_finds(
    tmp_path_factory: pytest.TempPathFactory, children: list[Row], parents: list[tuple[int, str]]
) -> None:
    """Of keys, keys with nulls and references of a dump, whatever its rows are."""
    folder = tmp_path_factory.mktemp("accused")
    with open_source(dumped(folder, children, parents), dialect="postgres") as source:
        profile = profile_source(source)
    found = queried(profile, children, parents)
    keys = {key.columns: key.evidence for key in profile.table("child").declared_keys}
    codes = [row[1] for row in children if row[1] is not None]
    pairs = [row[2:] for row in children]
    ids = [row[0] for row in children if row[0] is not None]
    assert keys["code",].violations == repeated(codes) == found["code",]
    assert keys["number", "part"].violations == repeated(pairs) == found["number", "part"]
    assert keys["id",].violations == repeated(ids)
    assert keys["id",].violations + keys["id",].nulls == found["id",]
    (reference,) = (key for key in profile.foreign_keys if key.origin == "declared")
    orphans = [pair for pair in pairs if None not in pair and pair not in set(parents)]
    assert reference.evidence.violations == len(orphans) == found["reference",]


def queried(
    profile: Profile, children: Sequence[Row], parents: Sequence[tuple[int, str]]
) -> dict[tuple[str, ...], int]:
    """Return how many rows the queries of the claims find in tables without any constraint."""
    found: dict[tuple[str, ...], int] = {}
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE child ({CHILD})")
        connection.execute("CREATE TABLE parent (number integer, part text)")
        connection.executemany("INSERT INTO child VALUES (?, ?, ?, ?)", children)
        connection.executemany("INSERT INTO parent VALUES (?, ?)", parents)
        for key in profile.table("child").declared_keys:
            broken = connection.execute(key.evidence.sql).fetchall()
            if "row_count" in key.evidence.sql:
                # One row of a group is the key's, unless a primary key has a null.
                is_of_nulls = [key.columns == ("id",) and None in row[:-1] for row in broken]
                found[key.columns] = sum(row[-1] for row in broken) - is_of_nulls.count(False)
            else:
                found[key.columns] = len(broken)
        for reference in profile.foreign_keys:
            if reference.origin == "declared":
                found["reference",] = len(connection.execute(reference.evidence.sql).fetchall())
    return found
