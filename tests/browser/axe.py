"""The accessibility checks of axe-core, an npm package that is fetched once for the tests.

It's never installed: the tarball of one version is checked against its hash and read in place.
"""

import base64
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

VERSION = "4.14.1"
_SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
_TARBALL = f"axe-core-{VERSION}.tgz"
_REGISTRY = "https://registry.npmjs.org"
_SECONDS = 60
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")


class AxeUnavailableError(Exception):
    """The package can't be fetched, or isn't the one that is asked for."""


def fetch_axe(folder: Path) -> Path:
    """Return the package's tarball in a folder, and fetch it first if it isn't there."""
    file = folder / _TARBALL
    if not file.is_file():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            partial = Path(scratch) / _TARBALL
            # Only npm knows the registry, proxy and certificates that are configured for it.
            if shutil.which("npm"):
                _fetch_with_npm(partial)
            else:
                _fetch_from_registry(partial)
            # Another process may fetch it at the same time; whoever is last replaces the same.
            partial.replace(file)
    return file


def _fetch_with_npm(file: Path) -> None:
    command = ["npm", "pack", "--silent", "--ignore-scripts", f"axe-core@{VERSION}"]
    try:
        subprocess.run(
            command, cwd=file.parent, check=True, capture_output=True, text=True, timeout=_SECONDS
        )
    except subprocess.CalledProcessError as error:
        raise AxeUnavailableError(f"npm can't fetch axe-core: {error.stderr.strip()}") from error
    except subprocess.TimeoutExpired as error:
        raise AxeUnavailableError("npm doesn't answer when it fetches axe-core") from error


def _fetch_from_registry(file: Path) -> None:
    registry = os.environ.get("NPM_CONFIG_REGISTRY", _REGISTRY).rstrip("/")
    address = f"{registry}/axe-core/-/{_TARBALL}"
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:
            file.write_bytes(answer.read())
    except OSError as error:
        raise AxeUnavailableError(f"{address} can't be fetched: {error}") from error


@cache
def read_axe(file: Path) -> str:
    """Return the script in the tarball, which is checked against its hash."""
    content = file.read_bytes()
    if base64.b64encode(hashlib.sha512(content).digest()).decode() != _SHA512:
        raise AxeUnavailableError(f"{file} isn't axe-core {VERSION}: its hash differs. Delete it.")
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


def violations(page: Page, script: str) -> list[str]:
    """Return what the rules of WCAG 2.1 A and AA and best practice object to, a line each."""
    page.evaluate(script)
    options = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
    result: dict[str, Any] = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{violation['id']}: {' '.join(node['target'])}: {node['failureSummary']}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]
