"""How fast a MySQL server's rows are staged, next to a bare CREATE TABLE AS through its scanner.

    python bench/servers.py                     # 1,000,000 rows, three rounds
    python bench/servers.py --rows 2000000 --rounds 5

Starts a MariaDB of its own, as the tests do. A round stages the table with ``open_source`` (catalog
and checks included) and copies it with the bare statement, one after the other; ``ratio`` is the
bare seconds over ours, on the clock, and ``cpu`` is processor time of this process. The target is a
median ratio of at least 0.8.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from fluid_build.sources import open_source  # noqa: E402
from fluid_build.sources.engine.connection import starting  # noqa: E402
from fluid_build.sources.engine.extensions import MYSQL_SCANNER  # noqa: E402
from fluid_build.sources.sql import literal  # noqa: E402
from tests.mariadb import start_mariadb  # noqa: E402

TARGET = 0.8
_DATABASE = "bench"
_TABLE = """
    SET time_zone = '+00:00';
    CREATE TABLE sale (id bigint PRIMARY KEY, customer int, amount decimal(12,2),
        quantity smallint unsigned, day date, at datetime(3), changed timestamp, code varchar(20),
        note varchar(100), is_paid tinyint(1), ratio double);
    INSERT INTO sale SELECT seq, seq % 50000, seq / 7, seq % 100,
        DATE '2020-01-01' + INTERVAL seq % 1500 DAY,
        TIMESTAMP '2020-01-01 00:00:00' + INTERVAL seq SECOND,
        TIMESTAMP '2020-01-01 00:00:00' + INTERVAL seq SECOND, CONCAT('C-', seq % 9999),
        CONCAT('some longer text of a note ', seq), seq % 2, seq / 3 FROM seq_1_to_{rows}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    server = start_mariadb(tempfile.gettempdir())
    try:
        server.run(f"CREATE DATABASE {_DATABASE}")
        server.run(_TABLE.format(rows=options.rows), _DATABASE)
        return compare(f"mysql://root@127.0.0.1:{server.port}/{_DATABASE}", options.rounds)
    finally:
        server.stop()


def compare(uri: str, rounds: int) -> int:
    """Print each round and the median ratio; return 1 where it misses the target."""
    ratios = []
    print("bare s  cpu   staged s  cpu   ratio")
    for _ in range(rounds):
        bare, bare_cpu = timed(lambda: copy_bare(uri))
        staged, staged_cpu = timed(lambda: open_source(uri).close())
        ratios.append(bare / staged)
        print(f"{bare:6.2f} {bare_cpu:5.2f} {staged:9.2f} {staged_cpu:5.2f} {ratios[-1]:7.2f}")
    ratio = statistics.median(ratios)
    print(f"median ratio {ratio:.2f}, target {TARGET}")
    return 0 if ratio >= TARGET else 1


def copy_bare(uri: str) -> None:
    """Copy the table as DuckDB alone would."""
    with starting(extensions=[MYSQL_SCANNER]) as engine:
        engine.stage(0)
        engine.connection.execute(f"ATTACH {literal(uri)} AS origin (TYPE mysql, READ_ONLY)")
        engine.connection.execute(f"CREATE TABLE staged.main.sale AS FROM origin.{_DATABASE}.sale")
    engine.close()


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds on the clock and of the processor that some work takes."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


if __name__ == "__main__":
    sys.exit(main())
