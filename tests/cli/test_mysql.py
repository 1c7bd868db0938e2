"""MySQL from end to end: profiled, forged, built by dbt, verified and tested, on a real MariaDB."""

from pathlib import Path

import pytest

from tests.cli.running import STATEMENTS, Fluid
from tests.mariadb import MariaDBDatabase

HARD = """
    SET sql_mode = '';
    CREATE TABLE country (code char(2) PRIMARY KEY, name varchar(40) COLLATE utf8mb4_bin)
        COMMENT 'Where customers live';
    CREATE TABLE customer (id int unsigned PRIMARY KEY, country char(2), vip tinyint(1), level
        tinyint(1), born date, bad date, joined timestamp(3) NULL, at datetime(6), balance
        decimal(65,5), big decimal(65,0), flags bit(4), doc json, u uuid, tags set('a','b'),
        t time, d time, bytes binary(3), p point, `odd``name {x}` varchar(9),
        FOREIGN KEY (country) REFERENCES country (code));
    CREATE TABLE plain (id int PRIMARY KEY, customer_id int unsigned, code decimal(10,0) UNIQUE,
        changed timestamp NULL, active tinyint(1), amount decimal(10,2) unsigned,
        FOREIGN KEY (customer_id) REFERENCES customer (id));
    CREATE TABLE `back``tick` (id int PRIMARY KEY, `a``b` varchar(9), FOREIGN KEY (id) REFERENCES
        plain (id));
    CREATE VIEW totals AS SELECT customer_id, SUM(amount) AS amount FROM plain GROUP BY customer_id;
    INSERT INTO country VALUES ('DE', 'Ä😀'), ('FR', 'b ');
    INSERT INTO customer SELECT seq, ELT(1 + seq % 2, 'DE', 'FR'), seq % 2, seq % 4,
        IF(seq = 3, '0000-00-00', '2000-01-31'), IF(seq = 4, '2024-02-00', '2024-02-01'),
        '2024-06-01 12:00:00.125', '2024-06-01 12:00:00.123456', seq / 7, REPEAT('9', 60),
        seq % 16, CONCAT('{"a": [', seq, ']}'), UUID(), 'a,b', '12:30:00',
        SEC_TO_TIME(seq * 100000), x'00ff10', POINT(seq, 1), 'it''s ?' FROM seq_1_to_20;
    INSERT INTO plain SELECT seq, 1 + seq % 20, 9999999000 + seq, '2024-06-01 12:00:00', seq % 2,
        seq / 3 FROM seq_1_to_60;
    INSERT INTO `back``tick` VALUES (1, 'x`y'), (2, NULL)
"""


@pytest.mark.usefixtures("dbt")
def test_what_dbt_builds_of_mysql_is_proven(
    fluid: Fluid, mariadb: MariaDBDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every type, a view included, comes back through the project exactly; no password is kept."""
    user = f"reader_{mariadb.name}"
    mariadb.run(HARD)
    mariadb.run(
        f"CREATE USER {user} IDENTIFIED BY 'hidden-pw'; GRANT SELECT, SHOW VIEW ON"
        f" {mariadb.name}.* TO {user}"
    )
    uri = mariadb.uri_of(user, "hidden-pw")
    folder = tmp_path / "out"
    try:
        # The server's zone must make no difference to a TIMESTAMP.
        mariadb.server.run("SET GLOBAL time_zone = '-03:00'")
        forged = fluid(
            "forge", "data-model", "from-source", "--source", "mysql", "--uri", uri, "--views",
            "--technique", "flat", "-o", folder,
        )  # fmt: skip
        assert forged.code == 0, forged.err
        written = [path.read_text() for path in folder.rglob("*.*") if path.is_file()]
        assert not any("hidden-pw" in text for text in written)
        monkeypatch.setenv("MYSQL_PWD", "hidden-pw")
        bare = mariadb.uri_of(user)
        verified = fluid("verify", folder, "--dbt", "--trust", "--uri", bare)
        assert verified.code == 0, verified.out + verified.err
        assert verified.out.count("Proven.") == 2
        tested = fluid("test", folder / "contract.fluid.yaml", "--uri", bare, "--views")
        assert tested.code == 0, tested.out + tested.err
    finally:
        mariadb.server.run("SET GLOBAL time_zone = 'SYSTEM'")
        mariadb.run(f"DROP USER {user}")


def test_a_table_of_mysql_is_named_with_its_database_or_without(
    fluid: Fluid, mariadb: MariaDBDatabase
) -> None:
    """As with the schemas of other servers."""
    mariadb.run(";".join(STATEMENTS))
    for name in ("orders", f"{mariadb.name}.orders", "ORDERS"):
        outcome = fluid("profile", mariadb.uri, "--table", name)
        assert (outcome.code, outcome.out.startswith("orders  ")) == (0, True), outcome.err


def test_a_refused_login_of_mysql_is_an_error_without_the_password(
    fluid: Fluid, mariadb: MariaDBDatabase
) -> None:
    """Two sentences on stderr and exit code 2."""
    outcome = fluid("profile", mariadb.uri_of("nobody", "hunter2-secret"))
    assert outcome.code == 2
    assert "refused the login" in outcome.err
    assert "hunter2-secret" not in outcome.err + outcome.out
