"""Names of people behind prefixes, beside marked columns, and in columns of other tables."""

import random
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from fluid_build.profiling import profile_source
from fluid_build.sources import open_source

_UNCOMMON = tuple(
    first + last
    for first in ("Brax", "Quel", "Ostr", "Vind", "Thal", "Korm", "Zeph", "Dral")
    for last in ("ovane", "imbur", "ethya", "ondel", "ugrim")
)
"""Names that no word list has: only their neighbours tell that they're somebody's."""

Tables = Mapping[str, tuple[Sequence[str], Sequence[Sequence[object]]]]


def marked(folder: Path, tables: Tables) -> set[tuple[str, str]]:
    """Return the columns of tables that are marked as personal."""
    path = folder / "clinic.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        for name, (columns, rows) in tables.items():
            database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            database.executemany(
                f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows
            )
    with open_source(path) as source:
        profile = profile_source(source)
    return {(t.name, c.name) for t in profile.tables for c in t.columns if c.pii}


def _patients(mark: str) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
    chance = random.Random(7)
    names = (f"{mark}_ID", f"{mark}_FNAME", f"{mark}_SNAME", f"{mark}_MOTHER", f"{mark}_TELE",
             f"{mark}_WARD", f"{mark}_STAY", "CREATED")  # fmt: skip
    rows = [
        (
            number + 500,
            chance.choice(_UNCOMMON),
            chance.choice(_UNCOMMON),
            chance.choice(_UNCOMMON),
            f"0{chance.randrange(200, 999)}{chance.randrange(10**6, 10**7)}",
            chance.choice(("North", "South", "Intensive care")),
            chance.randrange(1, 40),
            "2024-01-05",
        )
        for number in range(200)
    ]
    return names, rows


@pytest.mark.parametrize(("table", "mark"), [("hospital_rec", "PAT"), ("tx_main", "QX")])
def test_a_prefix_that_a_tables_columns_share_hides_no_name(
    tmp_path: Path, table: str, mark: str
) -> None:
    """Whatever the table is called; a ward and a length of stay stay unmarked."""
    found = marked(tmp_path, {table: _patients(mark)})
    assert found == {(table, f"{mark}_{n}") for n in ("FNAME", "SNAME", "MOTHER", "TELE")}


@pytest.mark.parametrize("mark", ["Pat", "qx"])
def test_a_prefix_in_camel_case_hides_no_name(tmp_path: Path, mark: str) -> None:
    names, rows = _patients(mark)
    humps = ["".join((first, rest.title())) for first, _, rest in (n.partition("_") for n in names)]
    found = marked(tmp_path, {"hospital_rec": (humps, rows)})
    assert found == {("hospital_rec", mark + n) for n in ("Fname", "Sname", "Mother", "Tele")}


def _tests_of(patients: Sequence[Sequence[object]], *, known: bool) -> Sequence[Sequence[object]]:
    chance = random.Random(9)
    things = ("Ferritin", "Sodium", "Albumin", "Glucose", "Creatinine", "Urea", *_OTHERS)
    return [
        (
            number + 9000,
            chance.choice(patients)[2] if known else chance.choice(things),
            chance.choice(things),
            chance.randrange(100),
        )
        for number in range(300)
    ]


_OTHERS = ("Lipase", "Amylase", "Bilirubin", "Troponin", "Insulin", "Cortisol", "Prolactin")


def test_another_tables_prefix_stands_for_its_rows(tmp_path: Path) -> None:
    names, rows = _patients("PAT")
    columns = ("LAB_ID", "LAB_PAT_NAME", "LAB_TEST", "LAB_VALUE")
    tables = {"pat": (names, rows), "lab": (columns, _tests_of(rows, known=True))}
    assert {name for table, name in marked(tmp_path, tables) if table == "lab"} == {"LAB_PAT_NAME"}


@pytest.mark.parametrize(("known", "found"), [(True, {"w2"}), (False, set())])
def test_values_of_a_marked_column_are_personal_elsewhere(
    tmp_path: Path, known: bool, found: set[str]
) -> None:
    names, rows = _patients("PAT")
    columns = ("w1", "w2", "w3", "w4")
    tables = {"pat": (names, rows), "lab": (columns, _tests_of(rows, known=known))}
    assert {name for table, name in marked(tmp_path, tables) if table == "lab"} == found


def _words(count: int, *, known: int) -> list[str]:
    """Return words of which some are parts of the uncommon names."""
    names = list(_UNCOMMON[:known])
    return names + [f"Xq{chr(97 + n // 20)}{chr(97 + n % 20)}zow" for n in range(count - known)]


@pytest.mark.parametrize(
    ("count", "known", "is_known"),
    [(40, 25, True), (40, 22, False), (28, 20, False), (20, 19, True), (10, 10, False)],
)
def test_words_of_known_names_are_names(
    tmp_path: Path, count: int, known: int, is_known: bool
) -> None:
    """Six in ten of at least thirty words, or nine in ten of a dozen."""
    names, rows = _patients("PAT")
    rows = [*rows, *((999 + n, w, w, w, "020", "North", 1, "x") for n, w in enumerate(_UNCOMMON))]
    words = _words(count, known=known)
    lab = [(n + 9000, words[n % count], n * 7 % 50) for n in range(120)]
    tables = {"pat": (names, rows), "lab": (("w1", "w2", "w3"), lab)}
    assert (("lab", "w2") in marked(tmp_path, tables)) is is_known


@pytest.mark.parametrize(("known", "found"), [(30, {"w2"}), (18, set())])
def test_logins_of_a_marked_column_are_personal_elsewhere(
    tmp_path: Path, known: int, found: set[str]
) -> None:
    """Whoever is referred to by a login is known by it."""
    logins = [f"{first.lower()}{n}x{n % 7}" for n, first in enumerate(_UNCOMMON)]
    others = [f"q{n}-{n * n}" for n in range(40)]
    codes = [*logins[:known], *others[: 40 - known]]
    users = [(n + 100, login, n % 3) for n, login in enumerate(logins)]
    tables = {
        "users": (("no", "username", "level"), users),
        "logs": (("w1", "w2"), [(n + 9000, codes[n % 40]) for n in range(160)]),
    }
    assert {name for table, name in marked(tmp_path, tables) if table == "logs"} == found


def test_a_prefix_that_could_be_part_of_a_persons_name_is_none(tmp_path: Path) -> None:
    """LST is short for last, and for a list of prices, in its own table and in another one."""
    lists = [(n, f"C{n}", w, w, "EUR") for n, w in enumerate(("Basic", "Premium", "Reduced"))]
    bills = [(n + 500, "Basic", n * 3 % 80, n % 2) for n in range(60)]
    tables = {
        "lists": (("LST_ID", "LST_CODE", "LST_NAME", "LST_DESC", "LST_CURRENCY"), lists),
        "bills": (("BLL_ID", "BLL_LST_NAME", "BLL_AMOUNT", "BLL_PAID"), bills),
    }
    assert marked(tmp_path, tables) == set()


@pytest.mark.parametrize("name", ["MOTHER_TONGUE", "PARENT_CODE", "FATHER_AGE", "SON_KEY"])
def test_what_is_said_of_a_relative_is_no_name(tmp_path: Path, name: str) -> None:
    chance = random.Random(3)
    rows = [
        (n, chance.choice(_UNCOMMON), chance.choice(("Swahili", "Tamil", "Zulu")))
        for n in range(90)
    ]
    tables = {"people": (("id", "first_name", name), rows)}
    assert marked(tmp_path, tables) == {("people", "first_name")}


@pytest.mark.parametrize(
    ("south_west", "north_east", "decimals", "is_position"),
    [
        ((47.2, 5.9), (55.0, 15.0), 6, True),
        ((-60.0, -180.0), (80.0, 180.0), 5, True),
        ((47.2, 5.9), (55.0, 15.0), 2, False),
        ((47.2, 5.9), (55.0, 15.0), 15, False),
        ((-3.0, -3.0), (3.0, 3.0), 6, False),
        ((47.2, 170.0), (55.0, 190.0), 6, False),
        ((80.0, 5.9), (95.0, 15.0), 6, False),
    ],
)
def test_a_latitude_beside_a_longitude_needs_no_name(
    tmp_path: Path,
    south_west: tuple[float, float],
    north_east: tuple[float, float],
    decimals: int,
    is_position: bool,
) -> None:
    """Within degrees, as precise as positions are, and not around zero."""
    chance = random.Random(5)
    rows = [
        (
            number + 100,
            *(
                round(chance.uniform(low, high), decimals)
                for low, high in zip(south_west, north_east, strict=True)
            ),
        )
        for number in range(80)
    ]
    found = marked(tmp_path, {"stops": (("stop", "c2 REAL", "c3 REAL"), rows)})
    assert found == ({("stops", "c2"), ("stops", "c3")} if is_position else set())


def test_two_measured_figures_are_no_position(tmp_path: Path) -> None:
    """Names that say something are believed."""
    chance = random.Random(5)
    rows = [
        (n, round(chance.uniform(40, 50), 5), round(chance.uniform(5, 9), 5)) for n in range(80)
    ]
    columns = ("sample", "voltage REAL", "current REAL")
    assert marked(tmp_path, {"readings": (columns, rows)}) == set()


@pytest.mark.parametrize(
    ("word", "is_shown"), [("fischer", False), ("unknown", True), ("zone9", True)]
)
def test_a_word_among_numbers_is_no_bound(tmp_path: Path, word: str, is_shown: bool) -> None:
    """Somebody's name may stand in a column of amounts, which nobody marks for it."""
    path = tmp_path / "amounts.csv"
    path.write_text(
        "id,amount\n" + "".join(f"{n},{n * 7 % 90}\n" for n in range(80)) + f"99,{word}"
    )
    with open_source(path) as source:
        text = profile_source(source).model_dump_json()
    assert (f'"{word}"' in text) is is_shown


@pytest.mark.parametrize(("name", "is_login"), [("id_account", True), ("category", False)])
def test_a_key_that_is_somebodys_login_is_so_in_each_table_that_has_it(
    tmp_path: Path, name: str, is_login: bool
) -> None:
    """Few values are enough under the same name; other values are none."""
    logins = [f"{first}{last[:1]}" for first in _UNCOMMON for last in ("ann", "ben")]
    tables: Tables = {
        "accounts": (("username", "language"), [(each, "de") for each in logins]),
        "clips": (("clip_no", "id_account"), [*enumerate(logins)]),
        "bans": (("ban_no", name), [*enumerate(logins[:4] if is_login else ["a", "b", "c", "d"])]),
    }
    found = marked(tmp_path, tables)
    expected = {("accounts", "username"), ("clips", "id_account")}
    assert found == expected | ({("bans", "id_account")} if is_login else set())
