"""``fluid doctor``: whether everything that Fluid Forge needs is there, and what to do if not."""

import importlib.util
import os
import platform
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import typer
from rich.table import Column

import fluid_build
from fluid_build.cli import failures, messages
from fluid_build.cli.invocation import fluid, install_command, uninstall_command
from fluid_build.cli.options import Debug, Json
from fluid_build.copilot.llm.credentials import find_key_place
from fluid_build.copilot.llm.providers import LiteLlmProvider, make_provider
from fluid_build.copilot.store.configured import STORE_VARIABLE, open_store
from fluid_build.copilot.unified_config import CONFIG_NAME, fluid_home, load_unified_config
from fluid_build.errors import FluidError
from fluid_build.extras import (
    DISTRIBUTION,
    foreign_distributions,
    packages_of,
    python_for,
    runs_here,
)
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import Copyable, Part, heading, text, unbroken
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.secrets import redact
from fluid_build.text import counted, listed

State = Literal["ok", "optional", "failed"]
_STYLES: dict[State, str] = {"ok": "green", "optional": "dim", "failed": "red"}

EXTRAS: dict[str, tuple[str, str]] = {
    "llm": ("httpx", "agents that use a language model"),
    "dbt": ("dbt", "building the dbt project with `fluid verify --dbt`"),
    "postgres": ("psycopg", "PostgreSQL sources, and a store that a team shares"),
    "mysql": ("duckdb_extension_mysql_scanner", "MySQL and MariaDB sources"),
    "sqlserver": ("mssql_python", "SQL Server sources"),
    "oracle": ("oracledb", "Oracle sources"),
    "snowflake": ("snowflake.connector", "Snowflake sources, and its catalog"),
    "bigquery": ("google.cloud.bigquery", "BigQuery sources, and its catalog"),
    "databricks": ("databricks.sql", "Databricks sources"),
    "s3": ("duckdb_extension_aws", "files in S3"),
    "azure": ("duckdb_extension_azure", "files in Azure"),
    "http": ("duckdb_extension_httpfs", "files on the web and in Google Cloud Storage"),
    "delta": ("duckdb_extension_delta", "Delta tables"),
    "iceberg": ("duckdb_extension_iceberg", "Iceberg tables"),
    "avro": ("duckdb_extension_avro", "Avro files"),
    "parquet": ("pyarrow", "Parquet decimals of more than 38 digits"),
    "excel": ("python_calamine", "workbooks"),
    "glue": ("boto3", "the data catalog AWS Glue"),
    "catalogs": ("google.auth", "the data catalogs Unity, Dataplex, DataHub, Data Mesh Manager"),
    "pandas": ("pandas", "profiles as data frames, in Python"),
    "mcp": ("mcp", "`fluid mcp serve`, and tools of other MCP servers"),
    "litellm": ("litellm", "providers that only LiteLLM knows"),
    "dbos": ("dbos", "composites of agents as workflows of DBOS"),
    "otel": ("opentelemetry.sdk", "traces and metrics"),
    "vectors": ("numpy", "memory that is searched by meaning"),
}
"""Each extra with a module of it, and what it is for."""

_SECONDS_TO_CONNECT = 3.0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was looked at, what was seen, and what to do where it failed."""

    name: str
    state: State
    finding: str
    advice: str = ""


def doctor(
    offline: Annotated[
        bool, typer.Option("--offline", help="Connect to no model provider.")
    ] = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Check the installation, the configuration, the store and the model provider.

    No model is asked, so nothing is paid. Exit code 1 means that a check failed.

    \b
    Example:  fluid doctor
    """
    checks = list(_checks(offline=offline))
    failed = [check for check in checks if check.state == "failed"]
    if json:
        messages.show_json(
            {
                "healthy": not failed,
                "checks": [
                    {
                        "name": check.name,
                        "state": check.state,
                        "finding": check.finding,
                        "advice": check.advice,
                    }
                    for check in checks
                ],
            }
        )
    else:
        show(_screen(checks, failed))
    return failures.CHECK_FAILED if failed else failures.DONE


def _checks(*, offline: bool) -> Iterator[Diagnosis]:
    yield Diagnosis(
        "version",
        "ok",
        f"Fluid Forge {fluid_build.__version__}, Python {platform.python_version()}",
    )
    yield _check_package()
    yield _attempt("engine", _check_engine, "Install Fluid Forge again.")
    yield _attempt("temporary files", _check_temporary_files, "Free space, or set TMPDIR.")
    yield _attempt(
        "configuration",
        _check_configuration,
        f"Correct it with `{fluid('config', 'set')} KEY VALUE`.",
    )
    yield _attempt(
        "store", _check_store, "Make the folder writable, or set FLUID_HOME or FLUID_STORE."
    )
    yield from _check_model(offline=offline)
    for extra, (module, purpose) in EXTRAS.items():
        if not runs_here(extra):
            finding = f"needs {python_for(extra)}: {purpose}"
            yield Diagnosis(f"extra {extra}", "optional", finding)
        elif _is_installed(module):
            yield Diagnosis(f"extra {extra}", "ok", f"installed: {purpose}")
        else:
            yield Diagnosis(
                f"extra {extra}",
                "optional",
                f"not installed: {purpose}",
                install_command(*packages_of(extra)),
            )


def _check_package() -> Diagnosis:
    """Look for other projects that install a package of our name, and a command ``fluid``."""
    place = Path(fluid_build.__file__).parent
    foreign = foreign_distributions()
    if not foreign:
        return Diagnosis("package", "ok", f"fluid_build is in {place}")
    return Diagnosis(
        "package",
        "failed",
        f"{listed(foreign)} installed a package fluid_build too, over files of {DISTRIBUTION}",
        f"Run `{uninstall_command(*foreign)}`, then install Fluid Forge again.",
    )


def _attempt(name: str, work: Callable[[], str], advice: str) -> Diagnosis:
    """Run a check; an error that we raise on purpose says what to do itself."""
    try:
        return Diagnosis(name, "ok", work())
    except FluidError as error:
        return Diagnosis(name, "failed", error.message, error.hint or advice)
    except (OSError, ImportError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Diagnosis(name, "failed", redact(str(reason)), advice)


def _check_engine() -> str:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SELECT 42").fetchall()
    return f"DuckDB {duckdb.__version__}"


def _check_temporary_files() -> str:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "write").write_bytes(b"x")
        return f"{Path(folder).parent} is writable"


def _check_configuration() -> str:
    load_unified_config()
    path = fluid_home() / CONFIG_NAME
    return f"{path} is valid" if path.exists() else f"{path} doesn't exist; defaults are used"


def _check_store() -> str:
    with closing(open_store()) as store:
        store.put("doctor", "write", True, ttl_seconds=1)
        store.delete("doctor", "write")
    shared = os.environ.get(STORE_VARIABLE, "").strip()
    return f"{redact(shared)} is writable" if shared else f"{fluid_home()} is writable"


def _check_model(*, offline: bool) -> Iterator[Diagnosis]:
    setup = fluid("ai", "setup")
    try:
        llm = load_unified_config().llm
        if llm.provider is None:
            finding = "none is configured; forges work without"
            yield Diagnosis("model", "optional", finding, setup)
            return
        provider = make_provider(llm.provider, llm.base_url)
        place = find_key_place(provider.name, provider.key_variables)
    except FluidError as error:
        yield Diagnosis("model", "failed", error.message, error.hint or setup)
        return
    if llm.model is None:
        yield Diagnosis("model", "failed", "llm.model isn't set", setup)
    elif place is None and provider.needs_key:
        yield Diagnosis("model", "failed", f"no API key for {provider.name}", setup)
    else:
        key = f"API key from {place}" if place else "no key needed"
        yield Diagnosis("model", "ok", f"{llm.model} of {provider.name}, {key}")
    # LiteLLM knows by itself where its providers are.
    if not offline and (llm.base_url or provider.name != LiteLlmProvider.name):
        yield _check_reachable(provider.base_url)


def _check_reachable(address: str) -> Diagnosis:
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((host, port), timeout=_SECONDS_TO_CONNECT):
            return Diagnosis("provider", "ok", f"{host}:{port} accepts connections")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return Diagnosis(
            "provider",
            "failed",
            f"{host}:{port} can't be reached: {reason}",
            "Check the network, a proxy, or llm.base_url.",
        )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a submodule, the package itself is missing
        return False


def _screen(checks: Sequence[Diagnosis], failed: Sequence[Diagnosis]) -> Iterator[Part]:
    grid = Grid(Column("check", style="cyan"), "state", "finding")
    for check in checks:
        grid.add_row(
            unbroken(check.name), text(check.state, _STYLES[check.state]), text(check.finding)
        )
    yield grid
    if failed:
        yield heading("What to do", counted(len(failed), "check") + " failed")
        yield from (Copyable(f"{check.name}: {check.advice}", "") for check in failed)
    missing = [check for check in checks if check.state == "optional" and check.advice]
    if missing:
        yield heading("If you need it")
        yield from (Copyable(f"{check.name}: {check.advice}", "dim") for check in missing)
