"""dbt ends with the process that started it, however that one ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_DBT = """
import os, pathlib, time
def cli():
    pathlib.Path("pid").write_text(str(os.getpid()))
    time.sleep(60)
"""
_STARTER = """
import sys
from pathlib import Path
from fluid_build.transform.dbt.running import run_dbt
run_dbt(Path(sys.argv[1]))
"""


def test_dbt_does_not_outlive_a_killed_process(tmp_path: Path) -> None:
    """It would go on loading what the next one loads again."""
    (tmp_path / "dbt" / "cli").mkdir(parents=True)
    for module in ("__init__.py", "cli/__init__.py"):
        (tmp_path / "dbt" / module).touch()
    # Python looks for modules in the current folder first, and that's the project's.
    (tmp_path / "dbt" / "cli" / "main.py").write_text(_DBT)
    starter = subprocess.Popen(
        [sys.executable, "-c", _STARTER, str(tmp_path)], cwd=Path(__file__).parents[3]
    )
    pid = _written(tmp_path / "pid")
    os.kill(starter.pid, signal.SIGKILL)
    starter.wait()
    assert _ends(pid)


def _written(path: Path) -> int:
    for _ in range(600):
        if path.is_file() and path.read_text():
            return int(path.read_text())
        time.sleep(0.05)
    raise AssertionError("it was never started")


def _ends(pid: int) -> bool:
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
