"""The generated databases of ``bench/look_once``: a file of SQL each, the same rows every time."""

from pathlib import Path

import duckdb

LOOK_ONCE = Path(__file__).parent

_FIRST_NAMES = (
    "Ana Ben Clara David Elif Farid Grace Hugo Ines Jonas Kira Lars Maya Noah Olga Pedro Rosa Sami"
    " Tara Umar"
).split()
_LAST_NAMES = (
    "Abbott Berger Costa Dorsey Ebert Fischer Garcia Hansen Ivanov Jensen Keller Lopez Moreau Novak"
    " Okafor Peters Quinn Rossi Silva Tanaka Ueda Vogel Walsh Xu Young Zimmer"
).split()


def build_database(script: Path, database: Path) -> None:
    """Make the tables of a script in a new DuckDB file.

    Scripts use two macros: ``pick(i, salt, n)`` is a number below n that looks random, and
    ``name(i, part)`` a first or last name.
    """
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            "create temp macro pick(i, salt, n) as"
            " (md5_number_lower(i::varchar || ':' || salt::varchar) % n::ubigint)::integer"
        )
        connection.execute(
            "create temp macro name(i, part) as if(part = 'first',"
            f" {_FIRST_NAMES}[1 + pick(i, 'first name', {len(_FIRST_NAMES)})],"
            f" {_LAST_NAMES}[1 + pick(i, 'last name', {len(_LAST_NAMES)})])"
        )
        connection.execute(script.read_text(encoding="utf-8"))
