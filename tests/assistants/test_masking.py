"""What is taken out of texts: values, secrets, and folders outside of the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from fluid_build.assistants.masking import contract_without_values, prose_without_values
from fluid_build.assistants.serving import describe_progress
from fluid_build.assistants.settings import WorkspaceSettings, workspace_settings
from fluid_build.progress import Progress


@pytest.fixture
def settings(tmp_path: Path) -> WorkspaceSettings:
    uri = "postgresql://reader:pw-canary-55@127.0.0.1/shop"
    return workspace_settings(tmp_path, {"crm": uri}, allow_write=False, share_values=False)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Not all are dates (such as 'ann').", "Not all are dates (such as '…')."),
        ('Not all are dates (such as "ann\'s").', "Not all are dates (such as …)."),
        ("It isn't a key, and can't be one.", "It isn't a key, and can't be one."),
        ("x NOT IN ('a', 'b''c')", "x NOT IN ('…', '…')"),
        ('SELECT "name" FROM "t"', 'SELECT "name" FROM "t"'),
        ("Write to ann@example.org.", "Write to ***."),
    ],
)
def test_values_that_a_text_quotes_are_masked(text: str, masked: str) -> None:
    assert prose_without_values(text) == masked


def test_lists_of_values_in_a_contract_are_masked_and_the_rest_stays() -> None:
    text = (
        "kind: DataProduct\nrules:\n- id: status\n  labels:\n    accepted-values: '[\"a\"]'\n"
        "    sql: SELECT * FROM \"t\" WHERE x NOT IN ('a')\n    rows: '3'\n"
    )
    masked = contract_without_values(text, "contract.fluid.yaml")
    assert "accepted-values: not shared" in masked
    assert "NOT IN ('…')" in masked
    assert "rows: '3'" in masked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{root}/shop.db is locked.", "shop.db is locked."),
        ("{root} isn't a file.", ". isn't a file."),
        ("/etc/ssl/private/key.pem is locked.", "…/key.pem is locked."),
        ("Check '~/.fluid/config.yaml'.", "Check '…/config.yaml'."),
        ("The password is pw-canary-55.", "The password is [redacted]."),
        ("3/4 of a/b, see https://example.org/a/b.", "3/4 of a/b, see https://example.org/a/b."),
    ],
)
def test_secrets_and_folders_outside_are_masked(
    settings: WorkspaceSettings, text: str, shown: str
) -> None:
    assert settings.without_outside(text.format(root=settings.root)) == shown


def test_the_settings_show_no_password(settings: WorkspaceSettings) -> None:
    assert "pw-canary" not in repr(settings)


@pytest.mark.parametrize(
    ("progress", "message"),
    [
        (Progress("columns", 2, 14, "orders"), "Measuring columns: orders (3 of 14)"),
        (Progress("columns", 2, 14, "x", 0.5), "Measuring columns: x (3 of 14, 50% of it)"),
        (Progress("relations", 1, 1), "Finding relationships (1 of 1)"),
    ],
)
def test_progress_is_a_sentence(progress: Progress, message: str) -> None:
    assert describe_progress(progress) == message
