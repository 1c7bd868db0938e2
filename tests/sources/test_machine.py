"""What DuckDB may use of a machine, or of a container on it."""

import os
from pathlib import Path

import pytest

from fluid_build.errors import UsageError
from fluid_build.sources.engine import machine
from fluid_build.temporary import SCRATCH_VARIABLE, owned_folder

GIB = 1024**3


@pytest.fixture
def bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of cgroups without any bound, on a machine with 64 cores."""
    for variable in (machine.MEMORY_VARIABLE, machine.THREADS_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(machine, "_CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(machine, "_OWN_CGROUPS", tmp_path / "self")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    return tmp_path


def _write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text + "\n")


def test_a_container_of_the_second_version_bounds_memory_and_cores(bounds: Path) -> None:
    """The tightest of the groups around the process counts, and a part of a core is one."""
    (bounds / "self").write_text("0::/outer/inner\n")
    _write(bounds / "cgroup/outer", memory__max=str(GIB), cpu__max="250000 100000")
    _write(bounds / "cgroup/outer/inner", memory__max="max", cpu__max="max 100000")
    assert machine.memory_limit() == f"{GIB // 2}B"
    assert machine.threads() == 3


def test_a_container_of_the_first_version_bounds_memory_and_cores(bounds: Path) -> None:
    """Its groups are by controller; a path that is out of sight leaves the root to be asked."""
    (bounds / "self").write_text("4:memory:/docker/x\n3:cpu,cpuacct:/\n")
    _write(bounds / "cgroup/memory", memory__limit_in_bytes=str(GIB))
    _write(bounds / "cgroup/cpu", cpu__cfs_quota_us="50000", cpu__cfs_period_us="100000")
    assert machine.memory_limit() == f"{GIB // 2}B"
    assert machine.threads() == 1


def test_without_a_bound_the_machine_counts(bounds: Path) -> None:
    """Nothing is read where there are no cgroups, and the cores are those of the process."""
    assert machine.threads() == 64
    (bounds / "self").write_text("1:cpu:/\n0::/\n")
    _write(bounds / "cgroup", memory__max="max")
    _write(bounds / "cgroup/cpu", cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000")
    assert machine.threads() == 64
    assert int(machine.memory_limit()[:-1]) > GIB // 4


def test_what_is_asked_for_counts_more(bounds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables say how much, and a number of threads that is none is refused."""
    monkeypatch.setenv(machine.MEMORY_VARIABLE, "3GB")
    monkeypatch.setenv(machine.THREADS_VARIABLE, "5")
    assert (machine.memory_limit(), machine.threads()) == ("3GB", 5)
    assert machine.memory_limit("1GB") == "1GB"
    monkeypatch.setenv(machine.THREADS_VARIABLE, "0")
    with pytest.raises(UsageError, match="'0' isn't a number of threads"):
        machine.threads()


def test_temporary_files_are_where_they_are_asked_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each folder is in the one that the variable names."""
    monkeypatch.setenv(SCRATCH_VARIABLE, str(tmp_path))
    with owned_folder() as folder:
        assert folder.path.parent == tmp_path
