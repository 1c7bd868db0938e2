"""The kinds of sources, one record each: a new kind is its own modules and one record here."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from fluid_build.sources.engine.extensions import (
    AWS,
    AZURE,
    HTTPFS,
    MYSQL_SCANNER,
    POSTGRES_SCANNER,
    SQLITE_SCANNER,
    Extension,
)

Kind: TypeAlias = Literal[
    "duckdb",
    "sqlite",
    "postgres",
    "mysql",
    "sqlserver",
    "oracle",
    "snowflake",
    "bigquery",
    "databricks",
    "files",
    "s3",
    "gcs",
    "azure",
    "http",
    "ddl",
    "dump",
    "in_memory",
    "combined",
    "glue",
    "unity",
    "snowflake-catalog",
    "bigquery-catalog",
    "dataplex",
    "datahub",
    "datamesh-manager",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKind:
    """How one kind of source is named, recognised and opened.

    ``opener`` is ``module:function``, imported when a source is opened: a CSV file shouldn't wait
    for a SQL parser. ``schemes`` are those of its URIs, the usual one first. ``endings`` and
    ``signature`` (an offset and the bytes there) tell its files. ``options`` are those of reading
    that only some kinds take, by what ``ReadOptions`` says that they need. ``scanner`` is the
    extension by which DuckDB attaches its databases. ``query_hint`` says how to run the queries
    that check a claim, which are DuckDB's SQL, where the source itself can't.
    """

    name: Kind
    label: str
    phrase: str
    opener: str
    schemes: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    signature: tuple[int, bytes] | None = None
    options: frozenset[str] = field(default_factory=frozenset)
    scanner: Extension | None = None
    query_hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteKind(SourceKind):
    """A kind of source that isn't on this machine: its place is a URI, never a path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerKind(RemoteKind):
    """A kind of source that a connection string leads to.

    ``environment`` has the variable that fills in each part that a connection string leaves out:
    host, port, user, database. ``password_variable`` is where the client looks for a password.
    ``harmless_parameters`` neither name a file of this machine nor lead to another server unseen;
    a folder that a stranger made may set no others.
    """

    environment: Mapping[str, str]
    password_variable: str
    harmless_parameters: frozenset[str]


CREDENTIAL_PARAMETER = "login"
"""The parameter of a catalog's address that names what to log in with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogKind(ServerKind):
    """A data catalog: it says what tables there are, and some lead to the rows.

    ``catalog`` is ``module:class`` of what asks it. ``path`` names the parts of its addresses after
    the host, and ``usual_uri`` shows one. ``plain_fields`` and ``secret_fields`` are those of its
    credentials, and ``extra`` installs what asks it. ``warehouse`` is the ``--source`` of a
    warehouse that has its own catalog.
    """

    catalog: str
    path: tuple[str, ...] = ()
    usual_uri: str = ""
    plain_fields: tuple[str, ...] = ()
    secret_fields: tuple[str, ...] = ()
    extra: str = "catalogs"
    warehouse: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFilesKind(RemoteKind):
    """Data files of an object store or a web server.

    ``extensions`` are what DuckDB reads them with, and ``secret_type`` is its word for a login.
    ``lists`` says whether the server lists its files. ``access_hint`` says how a user logs in,
    ``example`` is a URL.
    """

    extensions: tuple[Extension, ...]
    secret_type: str
    access_hint: str
    example: str
    lists: bool = True


_WAREHOUSE_OPTIONS: frozenset[str] = frozenset(
    {"schemas", "tables", "views", "sample", "full", "nested", "periods", "conventions"}
)

DUCKDB = SourceKind(
    name="duckdb",
    label="DuckDB",
    phrase="a DuckDB database",
    opener="fluid_build.sources.databases.duckdb_file:open_duckdb",
    schemes=("duckdb",),
    endings=(".duckdb", ".ddb", ".db"),
    signature=(8, b"DUCK"),
    options=frozenset({"schemas", "tables", "views", "nested", "periods", "conventions"}),
)
SQLITE = SourceKind(
    name="sqlite",
    label="SQLite",
    phrase="a SQLite database",
    opener="fluid_build.sources.databases.sqlite.file:open_sqlite",
    schemes=("sqlite", "sqlite3"),
    endings=(".sqlite", ".sqlite3", ".db3"),
    signature=(0, b"SQLite format 3\x00"),
    options=frozenset({"tables", "views", "nested", "periods", "conventions"}),
    scanner=SQLITE_SCANNER,
)
POSTGRES = ServerKind(
    name="postgres",
    label="PostgreSQL",
    phrase="a PostgreSQL database",
    opener="fluid_build.sources.servers.postgres.database:open_postgres",
    schemes=("postgresql", "postgres"),
    options=frozenset({"schemas", "tables", "views", "sample", "nested", "periods", "conventions"}),
    scanner=POSTGRES_SCANNER,
    # https://www.postgresql.org/docs/current/libpq-connect.html
    environment={
        "host": "PGHOST",
        "port": "PGPORT",
        "user": "PGUSER",
        "database": "PGDATABASE",
    },
    password_variable="PGPASSWORD",
    harmless_parameters=frozenset(
        {
            "hostaddr",
            "sslmode",
            "gssencmode",
            "channel_binding",
            "connect_timeout",
            "target_session_attrs",
            "application_name",
            "client_encoding",
        }
    ),
)
MYSQL = ServerKind(
    name="mysql",
    label="MySQL",
    phrase="a MySQL database",
    opener="fluid_build.sources.servers.mysql.database:open_mysql",
    schemes=("mysql", "mariadb"),
    options=frozenset({"schemas", "tables", "views", "sample", "nested", "periods", "conventions"}),
    scanner=MYSQL_SCANNER,
    # https://duckdb.org/docs/stable/core_extensions/mysql#configuration
    environment={
        "host": "MYSQL_HOST",
        "port": "MYSQL_TCP_PORT",
        "user": "MYSQL_USER",
        "database": "MYSQL_DATABASE",
    },
    password_variable="MYSQL_PWD",
    harmless_parameters=frozenset({"socket", "ssl-mode", "compression"}),
    query_hint=(
        "The queries quote names as standard SQL does. To run one in MySQL, run"
        " SET sql_mode = 'ANSI_QUOTES' first."
    ),
)
SQLSERVER = ServerKind(
    name="sqlserver",
    label="SQL Server",
    phrase="a SQL Server database",
    opener="fluid_build.sources.servers.sqlserver.database:open_sqlserver",
    schemes=("mssql", "sqlserver"),
    options=frozenset({"schemas", "tables", "views", "sample", "periods", "conventions"}),
    # https://learn.microsoft.com/en-us/sql/tools/sqlcmd/sqlcmd-use-scripting-variables
    environment={
        "host": "SQLCMDSERVER",
        "port": "",
        "user": "SQLCMDUSER",
        "database": "SQLCMDDBNAME",
    },
    password_variable="SQLCMDPASSWORD",
    harmless_parameters=frozenset(
        {
            "Encrypt",
            "encrypt",
            "TrustServerCertificate",
            "trustServerCertificate",
            "trustservercertificate",
            "HostnameInCertificate",
            "hostNameInCertificate",
            "Authentication",
            "authentication",
            "Trusted_Connection",
            "trusted_connection",
            "MultiSubnetFailover",
            "multiSubnetFailover",
        }
    ),
)
ORACLE = ServerKind(
    name="oracle",
    label="Oracle",
    phrase="an Oracle database",
    opener="fluid_build.sources.servers.oracle.database:open_oracle",
    schemes=("oracle",),
    options=frozenset({"schemas", "tables", "views", "sample", "periods", "conventions"}),
    # Oracle's tools have no variables for the parts of an address; these are ours.
    environment={
        "host": "ORACLE_HOST",
        "port": "ORACLE_PORT",
        "user": "ORACLE_USER",
        "database": "ORACLE_SERVICE",
    },
    password_variable="ORACLE_PASSWORD",
    harmless_parameters=frozenset({"sid", "protocol", "ssl_server_dn_match"}),
)
SNOWFLAKE = ServerKind(
    name="snowflake",
    label="Snowflake",
    phrase="a Snowflake database",
    opener="fluid_build.sources.servers.snowflake.database:open_snowflake",
    schemes=("snowflake",),
    options=_WAREHOUSE_OPTIONS,
    query_hint="The queries are standard SQL, which Snowflake runs as they are.",
    environment={
        "host": "SNOWFLAKE_ACCOUNT",
        "user": "SNOWFLAKE_USER",
        "database": "SNOWFLAKE_DATABASE",
    },
    password_variable="SNOWFLAKE_PASSWORD",
    harmless_parameters=frozenset({"role", "warehouse"}),
)
BIGQUERY = ServerKind(
    name="bigquery",
    label="BigQuery",
    phrase="a BigQuery project",
    opener="fluid_build.sources.servers.bigquery.database:open_bigquery",
    schemes=("bigquery",),
    options=_WAREHOUSE_OPTIONS,
    query_hint=(
        "The queries quote names with double quotes; BigQuery wants backticks in their place."
    ),
    environment={"host": "GOOGLE_CLOUD_PROJECT", "database": ""},
    password_variable="GOOGLE_APPLICATION_CREDENTIALS",
    harmless_parameters=frozenset({"location"}),
)
DATABRICKS = ServerKind(
    name="databricks",
    label="Databricks",
    phrase="a Databricks catalog",
    opener="fluid_build.sources.servers.databricks.database:open_databricks",
    schemes=("databricks",),
    options=_WAREHOUSE_OPTIONS,
    query_hint=(
        "The queries quote names with double quotes; Databricks wants backticks in their place."
    ),
    environment={"host": "DATABRICKS_HOST", "database": "DATABRICKS_CATALOG"},
    password_variable="DATABRICKS_TOKEN",
    harmless_parameters=frozenset({"http_path", "warehouse_id", "catalog", "schema"}),
)
FILES = SourceKind(
    name="files",
    label="files",
    phrase="files",
    opener="fluid_build.sources.files.opening:open_files",
    # A file: URI says only where: what is there is found by looking.
    schemes=("file",),
    options=frozenset({"tables", "nested", "conventions", "encoding"}),
    query_hint=(
        "The queries use table names. To run one in DuckDB, replace the table name with the path "
        "of the file: FROM 'orders.csv'."
    ),
)
_FILE_QUERIES = (
    "The queries use table names. To run one in DuckDB, replace the table name with the URL of the"
    " file: FROM 's3://bucket/orders.parquet'."
)
S3 = RemoteFilesKind(
    name="s3",
    label="files in S3",
    phrase="files in S3",
    opener="fluid_build.sources.files.remote.source:open_s3",
    schemes=("s3", "s3a", "s3n"),
    options=FILES.options,
    query_hint=_FILE_QUERIES,
    extensions=(AWS, HTTPFS),
    secret_type="s3",
    access_hint="Log in as for the aws command line (environment variables or `aws configure`), or"
    " store a secret in DuckDB.",
    example="s3://bucket/folder",
)
GCS = RemoteFilesKind(
    name="gcs",
    label="files in Google Cloud Storage",
    phrase="files in Google Cloud Storage",
    opener="fluid_build.sources.files.remote.source:open_gcs",
    schemes=("gs", "gcs"),
    options=FILES.options,
    query_hint=_FILE_QUERIES,
    extensions=(HTTPFS,),
    secret_type="gcs",
    access_hint="Set GCS_HMAC_KEY_ID and GCS_HMAC_SECRET to an HMAC key, or store a secret of type"
    " gcs in DuckDB.",
    example="gs://bucket/folder",
)
AZURE_STORAGE = RemoteFilesKind(
    name="azure",
    label="files in Azure",
    phrase="files in Azure",
    opener="fluid_build.sources.files.remote.source:open_azure",
    schemes=("az", "azure", "abfss", "abfs"),
    options=FILES.options,
    query_hint=_FILE_QUERIES,
    extensions=(AZURE, HTTPFS),
    secret_type="azure",
    access_hint="Set AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT after `az login`, or"
    " store a secret of type azure in DuckDB.",
    example="az://container/folder",
)
WEB = RemoteFilesKind(
    name="http",
    label="a file on the web",
    phrase="a file on the web",
    opener="fluid_build.sources.files.remote.source:open_web",
    schemes=("https", "http"),
    options=FILES.options,
    query_hint=_FILE_QUERIES,
    extensions=(HTTPFS,),
    secret_type="http",
    access_hint="Check that the URL opens in a browser; for a server with a login, store a secret"
    " of type http in DuckDB.",
    example="https://example.com/orders.csv",
    lists=False,
)
DDL = SourceKind(
    name="ddl",
    label="DDL",
    phrase="DDL",
    opener="fluid_build.sources.sql_text.ddl:open_structure",
    options=frozenset({"schemas", "tables", "dialect"}),
)
DUMP = SourceKind(
    name="dump",
    label="SQL dump",
    phrase="a SQL dump",
    opener="fluid_build.sources.sql_text.dumps.source:open_dump",
    options=frozenset({"schemas", "tables", "nested", "dialect", "periods", "conventions"}),
    query_hint=(
        "The queries use table names. To run one in DuckDB, load the dump into a database first."
    ),
)
IN_MEMORY = SourceKind(
    name="in_memory",
    label="data in memory",
    phrase="data in memory",
    opener="fluid_build.sources.in_memory.source:open_in_memory",
    options=frozenset({"tables", "nested", "periods", "conventions"}),
    query_hint=(
        "The queries use table names. In Python, DuckDB runs one on a data frame in a variable of"
        " that name: duckdb.sql('…')."
    ),
)
"""Tables of the calling process; no URI leads to them."""
COMBINED = SourceKind(
    name="combined",
    label="several sources",
    phrase="several sources",
    opener="",
    query_hint=(
        "The queries begin each table's name with its source. To run one in DuckDB, attach each"
        " database under that name: ATTACH 'crm.db' AS crm. Replace the name of a file's table with"
        " the path of the file."
    ),
)
"""What several sources are together; each of them has its own kind."""


def _catalog(
    name: Kind,
    label: str,
    module: str,
    usual_uri: str,
    *,
    parameters: Collection[str] = (),
    options: Collection[str] = (),
    **more: Any,
) -> CatalogKind:
    path = tuple(usual_uri.partition("://")[2].lower().split("/")[1:])
    return CatalogKind(
        name=name,
        label=label,
        phrase=f"the catalog {label}",
        opener="fluid_build.sources.catalogs.opening:open_catalog",
        schemes=(name,),
        options=frozenset({"schemas", "tables", "views", *options}),
        environment={"host": "", "database": ""},
        password_variable="",
        harmless_parameters=frozenset({CREDENTIAL_PARAMETER, *parameters}),
        catalog=f"fluid_build.sources.catalogs.{module}",
        path=path,
        usual_uri=usual_uri,
        **more,
    )


CATALOGS: tuple[CatalogKind, ...] = (
    _catalog(
        "glue",
        "AWS Glue",
        "glue:GlueCatalog",
        "glue://REGION/DATABASE",
        parameters=("catalog_id", "rows"),
        options=frozenset({"full", "nested", "conventions"}),
        plain_fields=("region", "catalog_id", "endpoint", "access_key_id", "profile"),
        secret_fields=("secret_access_key", "session_token"),
        extra="glue",
    ),
    _catalog(
        "unity",
        "Unity Catalog",
        "unity:UnityCatalog",
        "unity://HOST/CATALOG/SCHEMA",
        plain_fields=("host", "catalog", "profile", "client_id"),
        secret_fields=("token", "client_secret"),
    ),
    _catalog(
        "snowflake-catalog",
        "Snowflake Horizon",
        "snowflake:SnowflakeCatalog",
        "snowflake-catalog://ACCOUNT/DATABASE/SCHEMA",
        plain_fields=("account", "user", "database", "warehouse", "role", "host", "port",
                      "protocol", "auth_method", "authenticator", "private_key_file"),
        secret_fields=("password", "token", "private_key_passphrase"),
        extra="snowflake",
        warehouse="snowflake",
    ),
    _catalog(
        "bigquery-catalog",
        "BigQuery",
        "bigquery:BigQueryCatalog",
        "bigquery-catalog://PROJECT/DATASET",
        plain_fields=("project", "endpoint", "key_file"),
        extra="bigquery",
        warehouse="bigquery",
    ),
    _catalog(
        "dataplex",
        "Google Dataplex",
        "dataplex:DataplexCatalog",
        "dataplex://PROJECT/LOCATION/ENTRY_GROUP",
        plain_fields=("project", "location", "endpoint", "key_file"),
        secret_fields=("token",),
    ),
    _catalog(
        "datahub",
        "DataHub",
        "datahub:DataHubCatalog",
        "datahub://HOST/PLATFORM",
        plain_fields=("host", "platform"),
        secret_fields=("token",),
    ),
    _catalog(
        "datamesh-manager",
        "Data Mesh Manager",
        "datamesh_manager:DataMeshManagerCatalog",
        "datamesh-manager://HOST/DATA_PRODUCT",
        plain_fields=("host",),
        secret_fields=("api_key",),
    ),
)  # fmt: skip

KINDS: Mapping[str, SourceKind] = {
    kind.name: kind
    for kind in (
        DUCKDB,
        SQLITE,
        POSTGRES,
        MYSQL,
        SQLSERVER,
        ORACLE,
        SNOWFLAKE,
        BIGQUERY,
        DATABRICKS,
        FILES,
        S3,
        GCS,
        AZURE_STORAGE,
        WEB,
        DDL,
        DUMP,
        IN_MEMORY,
        COMBINED,
        *CATALOGS,
    )
}
"""Every kind by its name."""

SCHEMES: Mapping[str, SourceKind] = {
    scheme: kind for kind in KINDS.values() for scheme in kind.schemes
}
"""The kinds by the schemes of their URIs."""
