"""Pydantic models among an agent's notes: a checkpoint saves them, and loads the same models."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr

from fluid_build.copilot.agents.composite import (
    Checkpoint,
    Composite,
    CompositeAgent,
    StaleCheckpointError,
    StepResult,
    function_step,
    put_state,
    resume_sync,
    run_sync,
)
from fluid_build.copilot.agents.composite.saved_models import (
    dump_models,
    import_member,
    load_models,
)
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.store.base import StoreError


class Source(BaseModel):
    title: str
    read_on: date | None = None


class Report(BaseModel):
    model_config = ConfigDict(populate_by_name=False)

    summary: str = Field(alias="abstract")
    sources: list[Source] = []
    tags: set[str] = set()
    price: Decimal = Decimal("1.10")


class Login(BaseModel):
    password: SecretStr


class Counter(BaseModel):
    _count: int = PrivateAttr(default=0)


HERE = __name__


def saved_and_loaded(value: Any) -> Any:
    """The value after a trip through a store's JSON."""
    return load_models(json.loads(json.dumps(dump_models(value))))


def test_a_model_is_loaded_as_the_same_model() -> None:
    report = Report(
        abstract="s", sources=[Source(title="t", read_on=date(2024, 5, 1))], tags={"a", "b", "c"}
    )
    notes = {"report": report, "nested": {"list": [1, report, [Source(title="u")]]}}
    assert saved_and_loaded(notes) == notes


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.just(Source(title="t")),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("$model"), inner),
    )
)
def test_any_notes_are_loaded_as_they_were_saved(notes: Any) -> None:
    """A mapping that looks like a saved model is still a mapping."""
    assert saved_and_loaded(notes) == notes


def test_notes_without_models_are_saved_as_they_are() -> None:
    notes = {"a": [1, {"b": None}], "c": "text"}
    assert dump_models(notes) == notes


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        (f"{HERE}:Source", {"name": "t"}),
        (f"{HERE}:Source", {"title": "t", "removed": 1}),
        (f"{HERE}:Gone", {"title": "t"}),
        ("os:system", "true"),
        ("pathlib:Path", {}),
        ("antigravity:x", {}),
        ("", {}),
        (".relative:Model", {}),
        ("os:path.", {}),
    ],
)
def test_what_no_longer_fits_is_a_stale_checkpoint(path: str, fields: object) -> None:
    """Nothing but a model class is loaded, and no saved field is dropped unnoticed."""
    with pytest.raises(StaleCheckpointError):
        load_models({"$model": path, "fields": fields})


def test_a_module_of_a_package_that_nobody_imported_is_not_run() -> None:
    """What a store says isn't enough to import it."""
    with pytest.raises(StaleCheckpointError, match="hasn't imported"):
        load_models({"$model": "this:x", "fields": {}})
    assert "this" not in sys.modules


def test_an_error_in_an_imported_module_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_delegate.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(StaleCheckpointError, match="can't be imported: ZeroDivisionError"):
        import_member("broken_delegate:Agent")


def test_a_model_whose_private_state_would_be_lost_is_refused() -> None:
    counter = Counter()
    assert saved_and_loaded(counter) == counter
    counter._count = 5
    with pytest.raises(StoreError, match="values change"):
        dump_models(counter)


def test_a_checkpoint_of_the_first_format_is_read_without_models(tmp_path: Path) -> None:
    """Its notes may have a key that means a model today."""
    store = SqliteBackend(tmp_path / "s.db")
    notes = {"mine": {"$model": "x", "fields": 1}}

    class Noting(CompositeAgent):
        def init(self, args: Mapping[str, Any]) -> Composite:
            return Composite(internal=notes)

    run_sync(Noting, {}, checkpoint=Checkpoint(store, "r"))
    (key,) = [key for key in store.keys("runs", "r/") if key.endswith("/head")]
    head = store.get("runs", key)
    del head["format"]
    store.put("runs", key, {**head, "internal": notes})
    resumed = resume_sync(Noting, {}, checkpoint=Checkpoint(store, "r"))
    assert resumed.state.internal == notes


def test_a_new_field_with_a_default_still_fits() -> None:
    loaded = load_models({"$model": f"{HERE}:Report", "fields": {"summary": "s"}})
    assert loaded == Report(abstract="s")


def test_a_class_that_cannot_be_imported_is_refused_when_it_is_saved() -> None:
    class Local(BaseModel):
        x: int = 1

    with pytest.raises(StoreError, match="can't be imported"):
        dump_models({"local": Local()})


def test_a_model_that_json_would_change_is_refused_when_it_is_saved() -> None:
    """A secret is written as asterisks, so it couldn't be loaded."""
    with pytest.raises(StoreError, match="its values change"):
        dump_models(Login(password=SecretStr("hunter2")))


STOPPING = [True]


def stop_once(state: Composite) -> StepResult:
    if STOPPING:
        STOPPING.clear()
        raise KeyboardInterrupt
    return StepResult("ok")


class Reporting(CompositeAgent):
    """Notes a report, and is stopped before it ends."""

    def init(self, args: Mapping[str, Any]) -> Composite:
        report = function_step("report", lambda state: StepResult(None))
        return Composite(steps=[report, function_step("stop", stop_once)])

    def on_step_complete(self, step: Any, state: Composite) -> Composite:
        return put_state(state, step.name, Report(abstract="s"))


def test_a_resumed_run_has_its_models(tmp_path: Path) -> None:
    checkpoint = Checkpoint(SqliteBackend(tmp_path / "store.db"), "r")
    with pytest.raises(KeyboardInterrupt):
        run_sync(Reporting, {}, checkpoint=checkpoint)
    result = resume_sync(Reporting, {}, checkpoint=checkpoint)
    assert result.state.internal["report"] == Report(abstract="s")
