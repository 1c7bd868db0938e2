"""DuckDB's extensions that sources need, each a wheel of DuckDB's own version."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension of DuckDB.

    ``name`` is DuckDB's name of it. ``extra`` is our extra that installs its wheel, "" where the
    core does. ``database_type`` is the type of the databases that it attaches, "" where it
    attaches none; ``<type>_query`` runs SQL on such a database. ``settings`` are DuckDB's settings
    that it has to be used with, here and in a dbt project. ``threads`` is how many connections may
    use it at a time, None for any number.
    """

    name: str
    extra: str = ""
    database_type: str = ""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    threads: int | None = None

    @property
    def wheel(self) -> str:
        """The distribution that holds the extension."""
        return f"duckdb-extension-{self.name.replace('_', '-')}"


SQLITE_SCANNER = Extension("sqlite_scanner", database_type="sqlite")
POSTGRES_SCANNER = Extension("postgres_scanner", extra="postgres", database_type="postgres")
MYSQL_SCANNER = Extension(
    "mysql_scanner",
    extra="mysql",
    database_type="mysql",
    # The server sends a TIMESTAMP in the session's time zone. And a TINYINT(1) may hold any number.
    settings={"mysql_session_time_zone": "+00:00", "mysql_tinyint1_as_boolean": "false"},
    # Read by several at once, version 1.5.5 fails with basic_string::_M_create, or crashes.
    threads=1,
)
HTTPFS = Extension("httpfs", extra="http")
AWS = Extension("aws", extra="s3")
AZURE = Extension("azure", extra="azure")
DELTA = Extension("delta", extra="delta")
ICEBERG = Extension(
    "iceberg",
    extra="iceberg",
    # Only some catalogs write which version of a table is the newest: others number their files.
    settings={"unsafe_enable_version_guessing": "true"},
)
AVRO = Extension("avro", extra="avro")
EXCEL = Extension("excel", extra="excel")
