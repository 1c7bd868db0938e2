"""A web server of this process, with what real ones do wrong."""

import http.server
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any


class _Web(http.server.SimpleHTTPRequestHandler):
    """A folder on the web; some of its paths lead elsewhere, or to nothing."""

    def log_message(self, *_: object) -> None: ...

    def send_head(self) -> Any:
        if self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", "/customers.csv")
            self.end_headers()
            return None
        if self.path.startswith("/denied"):
            self.send_error(403)
            return None
        if self.path.startswith("/half"):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            return None
        self.path = self.path.partition("?")[0]
        return self._part() if self.headers.get("Range") else super().send_head()

    def _part(self) -> IO[bytes] | None:
        """Send the bytes that are asked for, as every real server does."""
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return None
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        content = path.read_bytes()
        part = content[int(first) : int(last) + 1 if last else None]
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        end = int(first) + len(part) - 1
        self.send_header("Content-Range", f"bytes {first}-{end}/{len(content)}")
        self.end_headers()
        self.wfile.write(part)
        return None


@contextmanager
def web_server(folder: Path, certificate: Path | None = None) -> Iterator[str]:
    """Provide the address of a server of a folder, with TLS where it has a certificate."""
    handler = partial(_Web, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{'http' if certificate is None else 'https'}://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
