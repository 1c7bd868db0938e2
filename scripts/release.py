"""Build a release and check it; what is left to do is printed, and not done.

    make release

The version is that of ``fluid_build/__init__.py``. Checked are, before anything is built: that the
newest heading of ``CHANGELOG.md`` is this version with a date, that git has no change and no tag of
the version, and that the locked requirements are those that ``make lock`` would write (where uv
is installed; it asks the index). Then the wheel is built from the source distribution, as an index
does it, the metadata of both is validated, and the wheel is installed and tried.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.metadata import Metadata

ROOT = Path(__file__).parent.parent
DIST = "dist"
_HEADING = re.compile(r"^## (?P<version>\S+)(?P<rest>.*)$", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_VERSION = re.compile(r'^__version__ = "(?P<version>[^"]+)"$', re.MULTILINE)


class ReleaseError(Exception):
    """Why there can't be a release now."""


@dataclass(frozen=True, slots=True)
class Distributions:
    """What a release consists of."""

    sdist: Path
    wheel: Path


def read_version(root: Path) -> str:
    """Return the version that the package states."""
    found = _VERSION.search((root / "fluid_build/__init__.py").read_text(encoding="utf-8"))
    if found is None:
        raise ReleaseError("fluid_build/__init__.py states no __version__.")
    return found["version"]


def check_changelog(root: Path, version: str) -> None:
    """Hold the newest heading of the changelog against the version."""
    newest = _HEADING.search((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if newest is None or newest["version"] != version:
        found = newest["version"] if newest else "nothing"
        raise ReleaseError(f"CHANGELOG.md begins with {found}, and the version is {version}.")
    if not _DATE.search(newest["rest"]):
        raise ReleaseError(f"The heading of {version} in CHANGELOG.md has no date.")


def check_git(root: Path, version: str) -> None:
    """Make sure that what is built is what is committed, and hasn't been released before."""
    if changed := _run("git", "status", "--porcelain", cwd=root):
        raise ReleaseError(f"git has changes that aren't committed:\n{changed.rstrip()}")
    if _run("git", "tag", "--list", f"v{version}", cwd=root):
        raise ReleaseError(f"The tag v{version} exists: {version} is released already.")


def check_locks(root: Path) -> None:
    """Make sure that ``make lock`` would change nothing. Needs uv, and asks the index."""
    commands = _run(
        "make", "--no-print-directory", "--dry-run", "--always-make", "lock", cwd=root
    ).splitlines()
    with tempfile.TemporaryDirectory() as folder:
        # What is locked already is kept, as far as it still fits: so newer versions change nothing.
        shutil.copytree(root / "requirements", folder, dirs_exist_ok=True)
        for command in commands:
            elsewhere = command.replace("-o requirements/", f"-o {folder}/")
            _run("sh", "-c", elsewhere, cwd=root)
        for written in sorted(Path(folder).iterdir()):
            if written.read_bytes() != (root / "requirements" / written.name).read_bytes():
                raise ReleaseError(f"requirements/{written.name} is out of date: run make lock.")


def build(root: Path, dist: Path) -> Distributions:
    """Build the source distribution, and the wheel from it, into an empty folder."""
    shutil.rmtree(dist, ignore_errors=True)
    # Files in archives get the time of the commit, so that anyone can build the same bytes.
    time = _run("git", "log", "-1", "--format=%ct", cwd=root).strip()
    hatchling = (sys.executable, "-m", "hatchling", "build", "-d", str(dist.resolve()))
    _run(*hatchling, "-t", "sdist", cwd=root, SOURCE_DATE_EPOCH=time)
    (sdist,) = dist.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        _run("tar", "-xzf", str(sdist.resolve()), "-C", folder, cwd=root)
        (source,) = Path(folder).iterdir()
        _run(*hatchling, "-t", "wheel", cwd=source, SOURCE_DATE_EPOCH=time)
    (wheel,) = dist.glob("*.whl")
    return Distributions(sdist, wheel)


def check_metadata(text: bytes, version: str) -> None:
    """Validate the metadata of a distribution as the index does."""
    try:
        metadata = Metadata.from_email(text, validate=True)
    except ExceptionGroup as errors:
        reasons = "; ".join(str(error) for error in errors.exceptions)
        raise ReleaseError(f"The metadata isn't valid: {reasons}.") from errors
    if str(metadata.version) != version:
        raise ReleaseError(f"The metadata is of {metadata.version}, and the version is {version}.")
    if not metadata.description or metadata.description_content_type != "text/markdown":
        raise ReleaseError("The metadata has no README in Markdown.")


def read_metadata(distributions: Distributions) -> Iterator[bytes]:
    """Return the metadata of the source distribution and of the wheel."""
    with tarfile.open(distributions.sdist) as archive:
        names = [name for name in archive.getnames() if re.fullmatch(r"[^/]+/PKG-INFO", name)]
        if (file := archive.extractfile(names[0])) is not None:
            yield file.read()
    with zipfile.ZipFile(distributions.wheel) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        yield wheel.read(name)


def try_wheel(root: Path, wheel: Path) -> None:
    """Install the wheel in an environment of its own, and run the demo there."""
    pytest = (sys.executable, "-m", "pytest", "-n", "0", "-m", "", "tests/test_wheel.py")
    _run(*pytest, cwd=root, TESTED_WHEEL=str(wheel.resolve()))


def _run(*command: str, cwd: Path, **environment: str) -> str:
    process = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True
    )
    if process.returncode:
        output = (process.stdout + process.stderr).strip()
        raise ReleaseError(f"{' '.join(command)} failed:\n{output}")
    return process.stdout


def _step(name: str, work: Callable[[], None]) -> None:
    print(f"{name} ...", flush=True)
    work()


def release(root: Path) -> None:
    """Check, build and check again. Raises ``ReleaseError`` at the first thing that's wrong."""
    version = read_version(root)
    _step(f"CHANGELOG.md has {version}", lambda: check_changelog(root, version))
    _step("git is clean and has no such tag", lambda: check_git(root, version))
    if shutil.which("uv"):
        _step("The locked requirements are up to date", lambda: check_locks(root))
    else:
        print("uv isn't installed, so nobody checks whether the locks are up to date.")
    built = build(root, root / DIST)
    for metadata in read_metadata(built):
        _step("The metadata is valid", lambda text=metadata: check_metadata(text, version))
    _step("The wheel installs and proves the demo", lambda: try_wheel(root, built.wheel))
    files = f"{DIST}/{built.sdist.name} {DIST}/{built.wheel.name}"
    print(
        f"\n{version} is ready in {DIST}/. What is left to do, once .ci/run has passed:\n\n"
        f"  git tag -a v{version} -m 'Fluid Forge {version}'\n"
        f"  git push origin v{version}\n"
        f"  uvx twine upload {files}"
    )


def main() -> int:
    try:
        release(ROOT)
    except ReleaseError as error:
        print(f"No release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
