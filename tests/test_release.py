"""The checks of a release, on a small repository of its own."""

import subprocess
from pathlib import Path

import pytest

from scripts import release
from scripts.release import ReleaseError

METADATA = """\
Metadata-Version: 2.4
Name: fluid-build
Version: 1.2.0
License-Expression: Apache-2.0
Description-Content-Type: text/markdown

# Fluid Forge
"""
_PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "fluid-build"
dynamic = ["version"]
readme = "README.md"
requires-python = ">=3.11"
[tool.hatch.version]
path = "fluid_build/__init__.py"
"""
# It derives a file from pyproject.toml, as uv does, and needs no network.
_MAKEFILE = "lock:\n\tLC_ALL=C sort pyproject.toml -o requirements/core.txt\n"


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of version 1.2.0 that is ready for its release."""
    files = {
        "fluid_build/__init__.py": '"""The package."""\n\n__version__ = "1.2.0"\n',
        "CHANGELOG.md": "# Changelog\n\n## 1.2.0 (2026-01-31)\n\n- New.\n\n## 1.1.0 (2026-01-01)\n",
        "README.md": "# The package\n",
        "pyproject.toml": _PYPROJECT,
        ".gitignore": "dist/\n",
        "Makefile": _MAKEFILE,
        "requirements/core.txt": "".join(sorted(_PYPROJECT.splitlines(keepends=True))),
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "Begin")
    return tmp_path


def test_what_is_ready_passes(repository: Path) -> None:
    assert release.read_version(repository) == "1.2.0"
    release.check_changelog(repository, "1.2.0")
    release.check_git(repository, "1.2.0")
    release.check_locks(repository)


def test_the_newest_heading_is_of_the_version(repository: Path) -> None:
    with pytest.raises(ReleaseError, match=r"begins with 1\.2\.0, and the version is 1\.3\.0"):
        release.check_changelog(repository, "1.3.0")


def test_the_newest_heading_has_a_date(repository: Path) -> None:
    (repository / "CHANGELOG.md").write_text("## 1.2.0 (unreleased)\n")
    with pytest.raises(ReleaseError, match="no date"):
        release.check_changelog(repository, "1.2.0")


def test_a_file_that_is_not_committed_stops_a_release(repository: Path) -> None:
    (repository / "fluid_build/new.py").touch()
    with pytest.raises(ReleaseError, match=r"(?s)aren't committed.*fluid_build/new\.py"):
        release.check_git(repository, "1.2.0")


def test_a_version_is_released_once(repository: Path) -> None:
    git(repository, "tag", "v1.2.0")
    with pytest.raises(ReleaseError, match=r"v1\.2\.0 exists"):
        release.check_git(repository, "1.2.0")
    release.check_git(repository, "1.2.1")


def test_a_lock_that_would_change_stops_a_release(repository: Path) -> None:
    before = (repository / "requirements/core.txt").read_bytes()
    with (repository / "pyproject.toml").open("a") as file:
        file.write("# One more line.\n")
    with pytest.raises(ReleaseError, match=r"core\.txt is out of date: run make lock"):
        release.check_locks(repository)
    assert (repository / "requirements/core.txt").read_bytes() == before


def test_the_wheel_is_built_from_the_source_distribution(repository: Path) -> None:
    built = release.build(repository, repository / "dist")
    assert built.sdist.name == "fluid_build-1.2.0.tar.gz"
    assert built.wheel.name == "fluid_build-1.2.0-py3-none-any.whl"
    first = built.wheel.read_bytes(), built.sdist.read_bytes()
    again = release.build(repository, repository / "dist")
    assert (again.wheel.read_bytes(), again.sdist.read_bytes()) == first
    for metadata in release.read_metadata(built):
        release.check_metadata(metadata, "1.2.0")


def test_valid_metadata_passes() -> None:
    release.check_metadata(METADATA.encode(), "1.2.0")


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        ("Apache-2.0", "Apache 2", "isn't valid"),
        ("Name: fluid-build\n", "", "isn't valid"),
        ("Version: 1.2.0", "Version: 1.1.0", r"is of 1\.1\.0"),
        ("text/markdown", "text/plain", "no README"),
        ("\n# Fluid Forge\n", "", "no README"),
    ],
)
def test_wrong_metadata_stops_a_release(right: str, wrong: str, reason: str) -> None:
    assert right in METADATA
    with pytest.raises(ReleaseError, match=reason):
        release.check_metadata(METADATA.replace(right, wrong).encode(), "1.2.0")


def test_a_program_that_fails_is_shown_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="not a git repository"):
        release.check_git(tmp_path, "1.2.0")
