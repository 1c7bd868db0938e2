"""Scripts that a server runs, and rows of a dump that are read without one: they agree."""

import shutil
import subprocess
from pathlib import Path

import pytest

from fluid_build.sources import open_source
from fluid_build.sources.sql import quote
from tests.mariadb import MariaDBDatabase
from tests.postgres import PostgresDatabase

MYSQL = "CREATE TABLE `t` (`id` int, `s` varchar(60), `b` blob, `n` int) ENGINE=InnoDB;\n"
MYSQL_SCRIPTS = {
    "texts": r"""INSERT INTO t (id, s) VALUES (1,'; -- /* \');'), (2,'\\'), (3,"it's; (\""),
        (4,'# no comment'), (5,N'ü'), (6,_utf8mb4'x'), (7,'a''b'), (8,"a""b"), (9,''),
        (10,'\%\_\n\t\0\Z\b\f\q'), (11,"); INSERT INTO t VALUES (0,'"), (12,'/*!50000 x */');""",
    "digits": "INSERT INTO t VALUES (1,x'4142',x'4142',65), (2,0xC3A9,0xff00,0x10),"
    " (3,b'01000001',b'0100000101000010',b'101'), (4,'x''41''','0x41',1);",
    "comments": """INSERT INTO t (id, s) -- it's (one)
        VALUES (1 /* a, ) */, 'a' # it's
        ), /* ( */ (2, -- b
        'b') /* ; */ ; # end""",
    "delimiters": "DELIMITER //\nINSERT INTO t (id, s) VALUES (1,'a;'),(2,'b')//\n"
    "INSERT INTO t (id, s) VALUES (3,'c') //\nDELIMITER ;\nINSERT INTO t (id) VALUES (4);",
    "no backslashes": "SET SQL_MODE='NO_BACKSLASH_ESCAPES';\n"
    r"""INSERT INTO t (id, s) VALUES (1,'a\'),(2,'b\n'),(3,"c\");""",
    "columns": "INSERT INTO t VALUES (1,'a','b',2);\nALTER TABLE t ADD COLUMN z int AFTER id;\n"
    "INSERT INTO t VALUES (2,5,'c','d',3);\nALTER TABLE t MODIFY n int FIRST;\n"
    "INSERT INTO t VALUES (7,3,6,'e','f');\nALTER TABLE t CHANGE s q varchar(60), DROP COLUMN b;\n"
    "INSERT INTO t (id, q) VALUES (4,'g'); INSERT INTO t VALUES (9,5,8,'h');",
    "names": "CREATE TABLE `o` LIKE `t`; INSERT INTO t (id) VALUES (1); INSERT INTO o (id) VALUES"
    " (2);\nRENAME TABLE t TO x, o TO t; INSERT INTO t (id) VALUES (3);\nDROP TABLE x;",
    "emptied": "INSERT INTO t (id) VALUES (1); TRUNCATE t; INSERT INTO t (id) VALUES (2);\n"
    "DELETE FROM t; INSERT IGNORE INTO t (id) VALUES (3); REPLACE INTO t (id) VALUES (4);\n"
    "INSERT LOW_PRIORITY IGNORE INTO t (id) VALUES (5) ON DUPLICATE KEY UPDATE id = 1;",
    "mariadb": "/*M!999999\\- enable the sandbox mode */\n/*M!100100 SET @x = 1 */;\n"
    "/*!40000 ALTER TABLE `t` DISABLE KEYS */;\nINSERT INTO `t` (id,s) VALUES\n(1,'a'),\n(2,'b');\n"
    "/*!40000 ALTER TABLE `t` ENABLE KEYS */;\n/*!50003 INSERT INTO t (id) VALUES (3) */;",
}
POSTGRES = "-- PostgreSQL database dump\nCREATE TABLE t (id int, s varchar(60), b bytea, n int);\n"
POSTGRES_SCRIPTS = {
    "texts": r"""INSERT INTO t (id, s) VALUES (1,'; -- /* '');'), (2,'\'), (3,$$it's; ('$$),
        (4,E'\'; --\\'), (6,''''), (7,'a
        b'), (8,U&'\0041\00e9\+01F600\D83D\DE00 \\'), (9,E'\u00e9\U0001F600\x41\101\xc3\xa9\7'),
        (10,E'\b\f\n\r\t\v\%'), (11,'$$'), (12,'"'), (13, N'n'), (14,' '), (15,'');""",
    "casts": "INSERT INTO t VALUES (1,'abc'::varchar(3),'\\x00ff'::bytea,'5'::int),"
    " (2,CAST('abc' AS character varying(60)),'ab',CAST(7 AS integer)), (3,'abc'::text,NULL,+1);",
    "comments": "INSERT INTO t (id, s) /* (a /* b */ */ VALUES (1 /* one */, 'a' -- it's\n"
    "), /* ( */ (2, 'b') -- ;\n RETURNING id;",
    "columns": "INSERT INTO t VALUES (1,'a','b',2);\nALTER TABLE t ADD COLUMN z int;\n"
    "INSERT INTO t VALUES (2,'c','d',3,4);\nALTER TABLE t RENAME COLUMN s TO n2;\n"
    "ALTER TABLE t DROP COLUMN b;\nALTER TABLE t RENAME TO u;\n"
    "INSERT INTO u (id, n2) VALUES (3,'e');\nCOPY u FROM stdin;\n4\tf\t5\t\\N\n\\.\n",
    "copies": "COPY t (s) FROM stdin;\na\n\n\\N\n\\\\N\n\\x41\\303\\251\\t\n\\\\.\n\n\\.\n",
    "partitions": "CREATE TABLE m (a int, b text) PARTITION BY RANGE (a);\n"
    "CREATE TABLE m1 (b text, a int);\n"
    "ALTER TABLE ONLY m ATTACH PARTITION m1 FOR VALUES FROM (1) TO (9);\n"
    "INSERT INTO m1 VALUES ('x', 1);\nINSERT INTO m VALUES (2, 'y');",
    "emptied": "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c (id int REFERENCES p);\n"
    "INSERT INTO p VALUES (1); INSERT INTO c VALUES (1); TRUNCATE p CASCADE;\n"
    "INSERT INTO t (id) VALUES (1); DELETE FROM ONLY t; INSERT INTO t (id) VALUES (2);\n"
    "INSERT INTO p VALUES (3);",
    "schemas": "CREATE SCHEMA s; CREATE TABLE s.t (id int); INSERT INTO s.t VALUES (1);\n"
    "INSERT INTO t (id) VALUES (3);\nDROP SCHEMA s CASCADE; CREATE SCHEMA s;\n"
    "CREATE TABLE s.t (id int); INSERT INTO s.t VALUES (2);",
    "settings": "SET standard_conforming_strings = off;\n"
    r"INSERT INTO t (id, s) VALUES (1,'a\'b'),(2,'c\nd'),(3,'\\'),(4,'\101\x42');",
}


def contents(place: Path | str) -> dict[str, list[list[tuple[str, str]]]]:
    """The rows of all tables, as the values that aren't null."""
    found = {}
    with open_source(place, nested="keep") as source:
        assert not source.skipped
        for table in source.tables:
            names = sorted(column.alias for column in table.columns)
            cells = ", ".join(f"{quote(name)}::VARCHAR" for name in names)
            rows = source.connection.execute(f"SELECT {cells} FROM {table.relation}").fetchall()
            found[table.name] = sorted(
                [(name, value) for name, value in zip(names, row, strict=True) if value is not None]
                for row in rows
            )
    return found


@pytest.mark.parametrize("script", MYSQL_SCRIPTS.values(), ids=list(MYSQL_SCRIPTS))
def test_a_script_for_mariadb_has_the_rows_that_it_leaves(
    mariadb: MariaDBDatabase, tmp_path: Path, script: str
) -> None:
    tool = shutil.which("mariadb")
    if tool is None:
        pytest.skip("MariaDB's tools aren't installed")
    dump = tmp_path / "shop.sql"
    dump.write_text(MYSQL + script, encoding="utf-8")
    command = [tool, "--no-defaults", f"--socket={mariadb.server.socket}", "--user=root"]
    command += ["--default-character-set=utf8mb4", mariadb.name]
    with dump.open() as text:
        subprocess.run(command, stdin=text, check=True)
    assert contents(dump) == contents(mariadb.uri)


@pytest.mark.parametrize("script", POSTGRES_SCRIPTS.values(), ids=list(POSTGRES_SCRIPTS))
def test_a_script_for_postgres_has_the_rows_that_it_leaves(
    postgres: PostgresDatabase, tmp_path: Path, script: str
) -> None:
    dump = tmp_path / "shop.sql"
    dump.write_text(POSTGRES + script, encoding="utf-8")
    postgres.run(f"\\i {dump}\n")
    assert contents(dump) == contents(postgres.uri)
