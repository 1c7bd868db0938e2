"""How the project logs in to the object stores of its sources: as the forge did, at run time.

No login is written into a project: the plugin asks DuckDB's stored secrets and the environment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fluid_build.sources.files.remote import object_store_login

LOGIN_MODULE = "fluid_login"

_PLUGIN = '''

from dbt.adapters.duckdb.plugins import BasePlugin  # noqa: E402

STORES = (
{stores})
"""The variable that says where each source is, its place by default, and its kind of login."""


class Plugin(BasePlugin):
    """Named in profiles.yml; dbt-duckdb calls it before it reads the source."""

    def configure_connection(self, conn):
        """Log in to each store on a new connection."""
        for variable, url, secret_type in STORES:
            log_in(conn, os.environ.get(variable) or url, secret_type)
'''


@dataclass(frozen=True, slots=True)
class StoreLogin:
    """What a login is for: the variable with a URL, its default, and DuckDB's kind of secret."""

    variable: str
    url: str
    secret_type: str


def login_plugin(logins: Sequence[StoreLogin]) -> str:
    """Return the Python file of the project that logs in to its sources' stores."""
    source = Path(object_store_login.__file__).read_text(encoding="utf-8")
    stores = "".join(
        f"    ({login.variable!r}, {login.url!r}, {login.secret_type!r}),\n" for login in logins
    )
    return source + _PLUGIN.format(stores=stores)
