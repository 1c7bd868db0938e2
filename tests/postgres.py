"""A database on a real PostgreSQL server, for tests."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PostgresDatabase:
    """A fresh database on a real server."""

    uri: str
    name: str
    folder: Path
    psql: Path

    def run(self, sql: str) -> str:
        """Run SQL statements; the last one's result as bare text."""
        result = subprocess.run(
            [str(self.psql), "-XqtA", "-v", "ON_ERROR_STOP=1", self.uri],
            input=sql,
            text=True,
            capture_output=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def uri_of(self, user: str, password: str = "") -> str:
        """The database's URI for another login."""
        return f"postgresql://{user}:{password}@/{self.name}?host={self.folder}"
