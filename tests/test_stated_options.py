"""Options that are stated once: what type checkers and signatures repeat says the same."""

import inspect
from dataclasses import fields
from typing import Any, get_type_hints

import pytest

import fluid_build as fluid
from fluid_build.api.arguments import OpenSettings
from fluid_build.forging.options import ForgeOptions, ForgeSettings
from fluid_build.sources.addresses.kinds import KINDS
from fluid_build.sources.options import READ_ALL, Needs, ReadOptions, ReadSettings, options_for
from fluid_build.sources.text_values.conventions import Conventions
from fluid_build.stated_options import stated_options, stated_values, with_values, words
from fluid_build.transform.proof.manifest import ManifestSource

READ = ReadOptions(
    schemas=["crm"],
    include=["a", "b"],
    exclude=["c"],
    views=True,
    sample=5,
    full=True,
    nested="keep",
    dialect="mysql",
    conventions=Conventions(",", "dmy"),
    encoding="cp1252",
)


@pytest.mark.parametrize(
    ("options", "settings"), [(ReadOptions, ReadSettings), (ForgeOptions, ForgeSettings)]
)
def test_the_keywords_that_type_checkers_know_are_the_fields(options: Any, settings: Any) -> None:
    assert get_type_hints(settings) == get_type_hints(options)


def test_the_keywords_of_opening_are_the_options_of_reading() -> None:
    stated = {option.keyword: option.type for option in stated_options(ReadOptions)}
    assert get_type_hints(OpenSettings) == stated | {
        "name": str | None,
        "memory_limit": str | None,
    }


def test_the_keywords_of_forging_are_its_options() -> None:
    parameters = inspect.signature(fluid.forge).parameters
    for option in stated_options(ForgeOptions):
        assert parameters[option.keyword].default == option.default


def test_a_manifest_has_an_entry_for_each_option() -> None:
    names = [option.keyword for option in stated_options(ReadOptions)]
    decided = ["one_table", "separate"]
    assert [*ManifestSource.model_fields] == ["kind", "location", *names, *decided, "parts"]


def test_each_option_says_what_it_needs_of_a_source() -> None:
    needed = [
        mark.name
        for hint in get_type_hints(ReadOptions, include_extras=True).values()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Needs)
    ]
    decided = {"grouping"}
    assert len(needed) == len(fields(ReadOptions)) - len(decided)
    assert {name for kind in KINDS.values() for name in kind.options} == set(needed)


def test_options_are_made_of_their_values_again() -> None:
    assert with_values(ReadOptions, stated_values(READ)) == READ
    assert with_values(ReadOptions, {}) == READ_ALL


def test_a_source_without_options_is_read_as_by_default() -> None:
    assert options_for(READ, ()) == READ_ALL


def test_a_command_line_repeats_what_was_asked() -> None:
    assert " ".join(words(READ)) == (
        "--schema crm --include a --include b --exclude c --views --full --nested keep --sample 5"
        " --dialect mysql --decimal , --date-order dmy --encoding cp1252"
    )
    assert [*words(READ_ALL)] == []
    asked = ForgeOptions("dimensional", event_dates={"orders": "shipped_on"})
    assert [*words(asked)] == ["--technique", "dimensional", "--event-date", "orders=shipped_on"]
