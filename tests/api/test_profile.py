"""Profiling from Python: sources of every form, and what a result offers."""

import io
import json
import sys
import threading
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import fluid_build as fluid
from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.main import run
from tests.api.conftest import Frames


def summary(profile: fluid.ProfileResult) -> tuple[object, ...]:
    keys = {name: table.primary_key for name, table in profile.tables.items()}
    references = [(key.from_table, key.to_table, key.evidence.orphans) for key in profile.broken]
    return keys, references


EXPECTED = (
    {"orders": ("order_id",), "customers": ("customer_id",)},
    [("orders", "customers", 1)],
)


def test_a_result_has_tables_columns_keys_and_evidence_by_name(frames: Frames) -> None:
    profile = fluid.profile(frames, name="shop")
    orders = profile.tables["orders"]
    assert orders.rows == 1000
    assert orders.primary_key == ("order_id",)
    assert orders.primary_key_evidence is not None
    assert orders.primary_key_evidence.violations == 0
    assert orders.columns["customer_id"].nulls == 143
    (reference,) = profile.foreign_keys
    assert orders.foreign_keys == profile.tables["customers"].referenced_by == (reference,)
    assert profile.broken == (reference,)
    assert reference.evidence.orphans == 1
    assert (profile.source_name, profile.source_kind, profile.rows) == ("shop", "in_memory", 1100)


def test_an_answer_settles_how_text_in_a_frame_is_written() -> None:
    frame = pd.DataFrame({"id": [1, 2], "due": ["01/02/2024", "03/04/2024"]})
    profile = fluid.profile({"invoice": frame}, date_order="dmy")
    assert profile.tables["invoice"].columns["due"].measured_type == "DATE (%d/%m/%Y)"


def test_an_unknown_table_is_a_key_error_with_a_guess(frames: Frames) -> None:
    profile = fluid.profile(frames)
    with pytest.raises(KeyError, match="Did you mean 'orders'"):
        profile.tables["order"]
    assert profile.tables.get("nothing") is None
    assert "orders" in profile.tables
    assert list(profile.tables) == ["orders", "customers"]


@pytest.mark.parametrize("form", ["pandas", "polars", "lazy", "arrow", "relation"])
def test_every_form_of_a_table_gives_the_same_profile(frames: Frames, form: str) -> None:
    with duckdb.connect() as connection:
        import polars as pl

        polars = {name: pl.from_pandas(frame) for name, frame in frames.items()}
        forms: dict[str, dict[str, object]] = {
            "pandas": {**frames},
            "polars": {**polars},
            "lazy": {name: frame.lazy() for name, frame in polars.items()},
            "arrow": {name: frame.to_arrow() for name, frame in polars.items()},
            "relation": {
                name: connection.from_arrow(frame.to_arrow()) for name, frame in polars.items()
            },
        }
        keys, references = summary(fluid.profile(forms[form]))
    assert keys == EXPECTED[0]
    # Outside of pandas a column of whole numbers with nulls isn't one of floats.
    assert references == EXPECTED[1] or form != "pandas"


def test_a_table_by_itself_is_called_data_or_as_asked(frames: Frames) -> None:
    assert list(fluid.profile(frames["orders"]).tables) == ["data"]
    assert list(fluid.profile(frames["orders"], name="orders").tables) == ["orders"]


def test_places_may_be_text_or_paths(database: Path) -> None:
    assert summary(fluid.profile(database))[0] == dict(sorted(EXPECTED[0].items()))
    assert fluid.profile(f"sqlite:///{database}").source_kind == "sqlite"


def test_several_sources_are_a_list_or_a_dict_of_places(database: Path, frames: Frames) -> None:
    listed = fluid.profile([database, {"visits": pd.DataFrame({"visit_id": range(10)})}])
    assert [*listed.tables] == ["shop.customers", "shop.orders", "visits.visits"]
    named = fluid.profile({"crm": database, "web": {"visits": frames["orders"]}})
    assert [*named.tables] == ["crm.customers", "crm.orders", "web.visits"]


def test_an_open_source_is_read_once_and_stays_open(frames: Frames) -> None:
    with fluid.open(frames) as source:
        assert summary(fluid.profile(source)) == EXPECTED
        assert summary(fluid.profile(source)) == EXPECTED
        with pytest.raises(fluid.UsageError, match="takes no options, and name was passed"):
            fluid.profile(source, name="shop")


def test_options_pass_through_to_the_source(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id;amount\n1;654.159\n2;12.345\n")
    read = {
        mark: fluid.profile(tmp_path / "t.csv", decimal=mark).tables["t"].columns["amount"]
        for mark in (".", ",")
    }
    assert (read["."].max, read[","].max) == ("654.159", "654159")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schema": "x"}, "Unknown option 'schema'"),
        ({"decimal": ";"}, "decimal=';' isn't known"),
        ({"nested": "flat"}, "nested='flat' isn't known"),
        ({"sample": 0}, "at least one row"),
        ({"sample": "100"}, "whole number of rows"),
        ({"include": "invoices"}, "No table matches invoices"),
        ({"schemas": "x"}, "Data in memory has no schemas"),
    ],
)
def test_an_option_that_is_wrong_is_a_usage_error(
    frames: Frames, options: dict[str, object], message: str
) -> None:
    with pytest.raises(fluid.UsageError, match=message):
        fluid.profile(frames, **options)  # type: ignore[arg-type]


def test_tables_are_chosen_by_globs(frames: Frames) -> None:
    assert [*fluid.profile(frames, include="ord*").tables] == ["orders"]
    assert [*fluid.profile(frames, exclude=["ord*"]).tables] == ["customers"]


def test_nested_columns_become_tables_unless_they_are_kept() -> None:
    lines = [[{"sku": f"s{i}", "n": i}, {"sku": "x", "n": 1}] for i in range(5)]
    orders = pd.DataFrame({"order_id": range(5), "lines": lines})
    assert [*fluid.profile(orders, name="orders").tables] == ["orders", "orders__lines"]
    kept = fluid.profile(orders, name="orders", nested="keep").tables["orders"]
    assert "STRUCT" in kept.columns["lines"].type


@pytest.mark.parametrize("source", [3, [], {}, "", {"a": [1]}, pd.Series([1])])
def test_what_is_no_source_is_a_usage_error(source: object) -> None:
    with pytest.raises(fluid.UsageError):
        fluid.profile(source)  # type: ignore[arg-type]


def test_a_missing_file_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(fluid.SourceNotFoundError) as error:
        fluid.profile(tmp_path / "nothing.db")
    assert error.value.hint


def test_the_documents_are_those_of_the_command(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = fluid.profile(database)
    run(["profile", str(database), "--json"], Interrupts())
    assert profile.to_dict() == json.loads(profile.to_json()) == json.loads(capsys.readouterr().out)
    run(["profile", str(database)], Interrupts())
    assert str(profile) == capsys.readouterr().out


def test_a_data_frame_has_a_row_for_each_column(frames: Frames) -> None:
    found = fluid.profile(frames).to_pandas()
    assert isinstance(found, pd.DataFrame)
    assert len(found) == 5
    row = found.set_index(["table", "column"]).loc[("orders", "customer_id")]
    assert row["references"] == "customers.customer_id"
    assert row["nulls"] == 143


def test_a_data_frame_without_pandas_says_what_installs_it(
    frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = fluid.profile(frames)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(fluid.MissingExtraError, match="pandas") as error:
        profile.to_pandas()
    assert "pip install" in (error.value.hint or "")


def test_nothing_is_printed(frames: Frames, capfd: pytest.CaptureFixture[str]) -> None:
    fluid.profile(frames)
    assert capfd.readouterr() == ("", "")


def test_progress_comes_to_the_callback(frames: Frames) -> None:
    heard: list[fluid.Progress] = []
    fluid.profile(frames, on_progress=heard.append)
    assert [*dict.fromkeys(report.stage for report in heard)][:3] == ["reading", "columns", "keys"]


def test_a_callback_may_end_the_work(frames: Frames) -> None:
    def stop(_: fluid.Progress) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        fluid.profile(frames, on_progress=stop)


def test_what_a_callback_raises_in_another_thread_reaches_the_caller() -> None:
    from fluid_build.api.arguments import reporting

    def stop(_: fluid.Progress) -> None:
        raise TimeoutError

    with reporting(stop) as report, pytest.raises(TimeoutError):
        watcher = threading.Thread(target=report, args=[fluid.Progress("reading", 0, 1)])
        watcher.start()
        watcher.join()
        report(fluid.Progress("reading", 1, 1))


def test_an_interrupt_leaves_as_such_and_frees_everything(frames: Frames, temporary: Path) -> None:
    def interrupt(report: fluid.Progress) -> None:
        if report.stage == "keys":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fluid.profile(frames, on_progress=interrupt)
    assert list(temporary.iterdir()) == []


def test_a_progress_bar_writes_each_stage_to_a_log_once(frames: Frames) -> None:
    log = io.StringIO()
    bar = fluid.show_progress(log)
    fluid.profile(frames, on_progress=bar)
    assert log.getvalue().splitlines() == [
        "Reading tables ...", "Measuring columns ...", "Finding keys ...",
        "Finding relationships ...",
    ]  # fmt: skip
    fluid.profile(frames, on_progress=bar)
    assert len(log.getvalue().splitlines()) == 8


def test_a_progress_bar_goes_away_from_a_terminal(frames: Frames) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    fluid.profile(frames, on_progress=fluid.show_progress(terminal))
    shown = terminal.getvalue()
    assert "Finding keys" in shown
    erased_line, cursor = "\x1b[2K", "\x1b[?25h"
    assert shown.rindex(erased_line) > shown.rindex("Finding")
    assert cursor in shown


def test_a_result_shows_itself_in_a_line(frames: Frames) -> None:
    profile = fluid.profile(frames, name="shop")
    assert repr(profile) == (
        "<Profile of shop: 2 tables, 1,100 rows, 1 relationship (1 with orphans)>"
    )
    assert repr(profile.tables["orders"]) == "<orders: 1,000 rows, 3 columns, key: order_id>"
    assert repr(profile.tables) == "<2 tables: orders, customers>"


def test_html_escapes_what_strangers_named_and_loads_nothing() -> None:
    frame = pd.DataFrame({"<script>alert(1)</script>": range(5), "b\u202e": ["x"] * 5})
    html = fluid.profile({"<img src=x onerror=alert(1)>": frame}, name="<b>shop</b>")._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "<b>shop" not in html
    assert "\u202e" not in html
    assert "http" not in html


def test_html_shows_what_breaks_a_relationship(frames: Frames) -> None:
    html = fluid.profile(frames)._repr_html_()
    assert '<td class="n bad">1 of 857</td>' in html
    assert "orders.customer_id" in html


def test_html_of_many_tables_stays_small() -> None:
    tables = {f"t{i}": pa.table({"id": [1, 2]}) for i in range(80)}
    html = fluid.profile(tables)._repr_html_()
    assert "and 20 tables more" in html
    assert len(html) < 30_000
