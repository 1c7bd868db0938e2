"""``fluid config``: the settings, where each comes from, and how to change them."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column

from fluid_build.cli import failures, messages
from fluid_build.cli.invocation import shell_word
from fluid_build.cli.options import Debug, Json
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.unified_config import (
    CONFIG_NAME,
    fluid_home,
    list_settings,
    migrate_legacy_to_unified,
    set_setting,
)
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonValue
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import (
    Part,
    first_line,
    indented,
    text,
    unbroken,
    whole,
)
from fluid_build.report.terminal.unbroken_grid import Grid


def show_config(json: Json = False, _debug: Debug = False) -> int:
    """Show every setting, and where its value comes from.

    A flag wins over an environment variable, which wins over the file.

    \b
    Example:  fluid config show
    """
    path = fluid_home() / CONFIG_NAME
    settings = list_settings()
    if json:
        document = {
            "file": str(path),
            "settings": [
                {"key": s.key, "value": s.value, "origin": str(s.origin)} for s in settings
            ],
        }
        messages.show_json(document)
        return failures.DONE
    grid = Grid(Column("setting", style="cyan"), "value", Column("from", style="dim"))
    for setting in settings:
        grid.add_row(
            unbroken(setting.key), text(_written(setting.value)), text(str(setting.origin))
        )
    remark = "" if path.exists() else "doesn't exist yet"
    show([first_line(whole(path), remark), indented(grid)])
    return failures.DONE


def set_config(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Such as llm.model.")],
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="As in YAML.")] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Remove the setting.")] = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Change one setting of the configuration file.

    The result is checked before it's written. Comments in the file are kept in a backup only.

    \b
    Example:  fluid config set behavior.cost_limit_usd_per_run 5.00
    """
    if (value is None) != unset:
        raise UsageError(
            f"Pass a value for {key}, or --unset." if value is None else "--unset takes no value.",
            hint=f"For example: `fluid config set {shell_word(key)} VALUE`.",
        )
    if key == "llm.provider" and value is not None:
        make_provider(value)
    change = set_setting(key, value)
    backup = change.backup
    if json:
        document = {
            "file": str(change.path),
            "key": key,
            "before": change.before,
            "value": change.value,
            "backup": None if backup is None else str(backup),
        }
        messages.show_json(document)
        return failures.DONE
    state = "not set" if value is None else _written(change.value)
    show([text(f"{key} is now {state}, in {change.path}."), *_backup_line(backup)])
    return failures.DONE


def migrate_config(json: Json = False, _debug: Debug = False) -> int:
    """Move the settings of the older files to config.yaml.

    These are ai_config.json, sources.yaml and prices.json. They stay as they are.

    \b
    Example:  fluid config migrate
    """
    migration = migrate_legacy_to_unified()
    if json:
        document = {
            "file": str(migration.path),
            "migrated": list(migration.migrated),
            "backups": [str(backup) for backup in migration.backups],
            "warnings": list(migration.warnings),
        }
        messages.show_json(document)
        return failures.DONE
    show(text(line) for line in str(migration).splitlines())
    return failures.DONE


def _backup_line(backup: Path | None) -> list[Part]:
    if backup is None:
        return []
    return [text(f"The previous file, with its comments, is {backup}.", "dim")]


def _written(value: JsonValue) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
