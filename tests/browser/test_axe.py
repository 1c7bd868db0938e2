"""axe-core comes as one version with one hash, and its checks can fail."""

import io
import shutil
import tarfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import axe as axe_package
from tests.browser.axe import AxeUnavailableError, fetch_axe, read_axe, violations
from tests.browser.watched_pages import watched_page


def test_a_picture_without_a_text_and_a_pale_text_are_violations(
    browser: Browser, axe: str, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    body = "<main><h1>Page</h1><svg role=img></svg><p style='color: #ccc'>pale</p></main>"
    file.write_text(f"<!doctype html><html lang=en><title>Page</title>{body}", encoding="utf-8")
    with watched_page(browser, file) as page:
        rules = {line.partition(":")[0] for line in violations(page, axe)}
    assert rules == {"svg-img-alt", "color-contrast"}


def test_a_tarball_of_another_hash_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "axe-core.tgz"
    with tarfile.open(file, "w:gz") as archive:
        script = tarfile.TarInfo("package/axe.min.js")
        archive.addfile(script, io.BytesIO(b""))
    with pytest.raises(AxeUnavailableError, match="its hash differs"):
        read_axe(file)


def test_without_npm_it_comes_from_the_configured_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = tmp_path / "registry" / "axe-core" / "-"
    registry.mkdir(parents=True)
    (registry / f"axe-core-{axe_package.VERSION}.tgz").write_bytes(b"tarball")
    handler = partial(_QuietHandler, directory=str(tmp_path / "registry"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    try:
        assert fetch_axe(tmp_path).read_bytes() == b"tarball"
    finally:
        server.shutdown()
        server.server_close()


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output free of requests."""
