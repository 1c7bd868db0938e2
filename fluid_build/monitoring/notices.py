"""A notice to whoever has to know: something is unusual, an apply failed, or all is well again."""

import shlex
import subprocess
import urllib.error
import urllib.request
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from fluid_build.errors import UsageError
from fluid_build.monitoring.alarms import Alarm
from fluid_build.monitoring.history import Night
from fluid_build.secrets import redact

_SECONDS = 30
"""A notice that takes longer would hold up the night's work."""
Event: TypeAlias = Literal["alarm", "failure", "recovery"]


class Notice(BaseModel):
    """What a command or a webhook is told, as JSON; ``text`` is all of it in sentences."""

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = 1
    event: Event
    folder: str
    moment: datetime
    text: str
    alarms: tuple[Alarm, ...] = ()


def notice_of(folder: str, before: Night | None, night: Night) -> Notice | None:
    """Return what is to be told after the last look before; None where all was and is well.

    Of two looks on one day the second only tells what the first didn't.
    """
    if before is not None and before.day == night.day and _troubles(before) == _troubles(night):
        return None
    if night.has_failed and night.applied is not None:
        event: Event = "failure"
        told: Sequence[str] = (*night.applied.told, *map(str, night.alarms))
    elif night.alarms:
        event, told = "alarm", [str(alarm) for alarm in night.alarms]
    elif before is not None and (before.has_failed or before.alarms):
        event, told = "recovery", ["Everything is as usual again."]
    else:
        return None
    return Notice(
        event=event,
        folder=folder,
        moment=night.moment,
        text=" ".join(told),
        alarms=night.alarms,
    )


def _troubles(night: Night) -> object:
    return night.has_failed, {alarm.watched for alarm in night.alarms}


def send(notice: Notice, to: str) -> None:
    """Send a notice to a command, on its standard input, or to a webhook, with a POST.

    No shell reads the command. Raises UsageError where it can't be run or doesn't end well, or
    the webhook doesn't answer.
    """
    body = notice.model_dump_json().encode()
    if to.startswith(("https://", "http://")):
        _post(to, body)
        return
    try:
        words = shlex.split(to)
        subprocess.run(words, input=body, check=True, timeout=_SECONDS, capture_output=True)
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
        raise _not_sent(to, str(error)) from None


def _post(to: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    try:
        request = urllib.request.Request(to, data=body, headers=headers)
        with urllib.request.urlopen(request, timeout=_SECONDS):
            pass
    except (OSError, ValueError) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        # The address of a webhook is a secret by itself.
        raise _not_sent(to.partition("://")[0] + "://…", type(error).__name__) from None


def _not_sent(to: str, why: str) -> UsageError:
    return UsageError(
        f"The notice wasn't sent to {redact(to)}: {redact(why)}.",
        hint="Check what --notify says. The command's own work is done all the same.",
    )
