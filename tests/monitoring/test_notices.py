"""Who is told what, and when."""

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from fluid_build.errors import UsageError
from fluid_build.monitoring.alarms import Alarm, Figure
from fluid_build.monitoring.history import Night, Seen
from fluid_build.monitoring.notices import Notice, notice_of, send

MOMENT = datetime(2026, 6, 1, 2)
ALARM = Alarm(table="orders", figure=Figure.ROWS, value=3, low=900, high=1_100)


def look(day: int = 1, *, alarm: bool = False, fails: bool = False) -> Night:
    moment = MOMENT + timedelta(days=day)
    applied = Seen(moment=moment, outcome="failed", told=("A check failed.",)) if fails else None
    alarms = (ALARM,) if alarm else ()
    return Night(moment=moment, alarms=alarms, applied=applied)


@pytest.mark.parametrize(
    ("before", "tonight", "event"),
    [
        (None, look(), None),
        (look(0), look(), None),
        (None, look(alarm=True), "alarm"),
        (look(0, alarm=True), look(alarm=True), "alarm"),
        (look(0), look(fails=True), "failure"),
        (look(0, fails=True), look(), "recovery"),
        (look(0, alarm=True), look(), "recovery"),
        (look(alarm=True), look(alarm=True), None),
        (look(alarm=True), look(alarm=True, fails=True), "failure"),
    ],
)
def test_people_are_told_what_is_off_and_when_it_is_over(
    before: Night | None, tonight: Night, event: str | None
) -> None:
    """Of one night once."""
    notice = notice_of("shop-model", before, tonight)
    assert (notice.event if notice else None) == event


def notice() -> Notice:
    found = notice_of("shop model", None, look(alarm=True))
    assert found is not None
    return found


def test_a_command_gets_the_notice_as_json(tmp_path: Path) -> None:
    code = f"import sys; open({str(tmp_path / 'told')!r}, 'w').write(sys.stdin.read())"
    send(notice(), shlex.join([sys.executable, "-c", code]))
    told = json.loads((tmp_path / "told").read_text())
    assert told["event"] == "alarm"
    assert told["text"] == "orders: 3 rows, expected 900 to 1,100."


@pytest.mark.parametrize("command", ["", "/nowhere/notify", "'unclosed", "false"])
def test_a_command_that_does_not_work_is_an_error(command: str) -> None:
    with pytest.raises(UsageError, match="wasn't sent"):
        send(notice(), command)


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    send(notice(), f"true ; touch {tmp_path / 'made'}")
    assert not (tmp_path / "made").exists()


@contextmanager
def webhook(answer: int) -> Iterator[tuple[str, list[bytes]]]:
    """Answer each POST with a status, and keep what was sent."""
    told: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(answer)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/secret", told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_webhook_gets_the_notice() -> None:
    with webhook(204) as (address, told):
        send(notice(), address)
    assert Notice.model_validate_json(told[0]) == notice()


def test_the_address_of_a_webhook_is_not_told() -> None:
    with webhook(500) as (address, _), pytest.raises(UsageError) as raised:
        send(notice(), address)
    assert "secret" not in f"{raised.value.message}{raised.value.hint}"
