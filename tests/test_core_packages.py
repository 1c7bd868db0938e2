"""The core needs no package but those of its own lock."""

import re
import subprocess
import sys
from pathlib import Path

from tests.transform.databases import EVERY_TYPE, database

ROOT = Path(__file__).parent.parent
_LOCKED = re.compile(r"^([\w.-]+)(?=[=\[])", re.MULTILINE)

_FORGE_WITH_THE_CORE_ALONE = """
import sys
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions

allowed = set(sys.argv[3].split(","))
others = {
    module
    for module, names in packages_distributions().items()
    if not allowed & {name.lower().replace("_", "-") for name in names}
}


class CoreAlone(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in others else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = CoreAlone
from fluid_build.cli.main import main

source, out = sys.argv[1:3]
sys.argv = ["fluid", "forge", "data-model", "from-source", "--uri", source, "--out", out]
main()
"""


def test_every_type_is_proven_with_the_core_alone(tmp_path: Path) -> None:
    """DuckDB itself imports packages where it hands values to Python, but declares none."""
    locked = _LOCKED.findall((ROOT / "requirements/core.txt").read_text())
    allowed = ",".join(["fluid-build", *(name.lower() for name in locked)])
    source = database(tmp_path / "types.duckdb", EVERY_TYPE)
    command = [sys.executable, "-c", _FORGE_WITH_THE_CORE_ALONE, source, tmp_path / "out", allowed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Proven" in done.stdout
