"""Running dbt: what it says is read, what it needs is named, what is secret stays so."""

import sys
from pathlib import Path

import pytest

from fluid_build.block_yaml import block_yaml
from fluid_build.errors import DbtFailedError, DbtMissingError
from fluid_build.extras import NEWEST_PYTHON, install_command
from fluid_build.transform.dbt.running import DbtNode, DbtResult, run_dbt
from tests.transform.dbt.projects import written


def test_where_dbt_is_missing_the_hint_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interpreter that a virtual environment is made of has no dbt."""
    bare = Path(sys.base_prefix) / "bin" / "python3"
    if sys.prefix == sys.base_prefix or not bare.exists():
        pytest.skip("these tests do not run in a virtual environment")
    monkeypatch.delitem(NEWEST_PYTHON, "dbt")
    with pytest.raises(DbtMissingError, match="dbt isn't installed") as missing:
        run_dbt(tmp_path, python=str(bare))
    assert missing.value.command == install_command("dbt")


def test_on_a_python_that_is_too_new_the_hint_names_an_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installing dbt wouldn't help there."""
    bare = Path(sys.base_prefix) / "bin" / "python3"
    if sys.prefix == sys.base_prefix or not bare.exists():
        pytest.skip("these tests do not run in a virtual environment")
    monkeypatch.setitem(NEWEST_PYTHON, "dbt", (3, 10))
    with pytest.raises(DbtMissingError, match="dbt doesn't run on Python 3") as missing:
        run_dbt(tmp_path, python=str(bare))
    assert missing.value.command is None
    assert missing.value.hint
    assert "Python 3.10 or earlier" in missing.value.hint


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SHOP_PASSWORD", "xyzzy-1234"),
        ("FLUID_SOURCE_DSN", "postgresql://reader:xyzzy-1234@localhost/shop"),
    ],
)
def test_a_project_that_dbt_cannot_read_is_an_error_without_its_secrets(
    tmp_path: Path, variable: str, value: str
) -> None:
    """Dbt repeats what it trips over, and that may be a password or hold one."""
    profile = {"type": f"{{{{ env_var('{variable}') }}}}"}
    files = {
        "dbt_project.yml": block_yaml({"name": "shop", "profile": "shop", "version": "1.0"}),
        "profiles.yml": block_yaml({"shop": {"target": "dev", "outputs": {"dev": profile}}}),
    }
    with pytest.raises(DbtFailedError) as failed:
        run_dbt(written(files, tmp_path), environment={variable: value})
    assert "dbt built nothing" in failed.value.message
    assert "***" in failed.value.message
    assert "xyzzy" not in failed.value.message


def test_nothing_built_is_no_success() -> None:
    """A run without a model, a failure or something left out is not green."""
    built = DbtNode("a", "model", "built", "", None, 0.1)
    skipped = DbtNode("b", "test", "skipped", "", None, 0.0)
    assert DbtResult((built,)).ok
    assert not DbtResult(()).ok
    assert not DbtResult((built, skipped)).ok
