"""The store that the user has configured: one SQLite file in their home, or a shared database."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.unified_config import fluid_home
from fluid_build.errors import UsageError
from fluid_build.extras import needs_extra
from fluid_build.secrets import redact

STORE_VARIABLE = "FLUID_STORE"
STORE_NAME = "fluid.db"
_POSTGRES = ("postgresql://", "postgres://")


def open_store(environ: Mapping[str, str] | None = None) -> Store:
    """Return the store of runs, memory and answers, which is opened on its first use.

    ``FLUID_STORE=postgresql://…`` names a database that a team shares. Without it the store is a
    file in ``FLUID_HOME`` or ``~/.fluid``. Raises ``UsageError`` for any other address,
    ``MissingExtraError`` without the extra ``postgres``, and ``ConfigError`` for a user without a
    home folder. A store that can't be used raises ``StoreError`` on its first use.
    """
    variables = os.environ if environ is None else environ
    address = variables.get(STORE_VARIABLE, "").strip()
    if not address:
        return SqliteBackend(fluid_home(variables) / STORE_NAME)
    if not address.startswith(_POSTGRES):
        raise UsageError(
            f"{STORE_VARIABLE} is {redact(address)!r}, which isn't the address of a store.",
            hint="Set it to postgresql://user@host/database, or unset it to use a file.",
        )
    with needs_extra("postgres", f"The store in {STORE_VARIABLE}"):
        from fluid_build.copilot.store.backends.postgres import PostgresBackend
    return PostgresBackend(address)
