"""DuckDB's extensions that sources need, each a wheel of DuckDB's own version."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension of DuckDB.

    ``name`` is DuckDB's name of it. ``extra`` is our extra that installs its wheel, "" where the
    core does. ``database_type`` is the type of the databases that it attaches, "" where it
    attaches none; ``<type>_query`` runs SQL on such a database.
    """

    name: str
    extra: str = ""
    database_type: str = ""

    @property
    def wheel(self) -> str:
        """The distribution that holds the extension."""
        return f"duckdb-extension-{self.name.replace('_', '-')}"


SQLITE_SCANNER = Extension("sqlite_scanner", database_type="sqlite")
POSTGRES_SCANNER = Extension("postgres_scanner", extra="postgres", database_type="postgres")
MYSQL_SCANNER = Extension("mysql_scanner", extra="mysql", database_type="mysql")
HTTPFS = Extension("httpfs", extra="s3")
AWS = Extension("aws", extra="s3")
AZURE = Extension("azure", extra="azure")
DELTA = Extension("delta", extra="delta")
ICEBERG = Extension("iceberg", extra="iceberg")
AVRO = Extension("avro", extra="avro")
EXCEL = Extension("excel", extra="excel")
