"""Conventions: whatever a warehouse calls its relations and columns, the proof holds."""

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.decisions.conventions import (
    PRESETS,
    ColumnNames,
    Conventions,
    Hashing,
    Prefixes,
    Preset,
)
from fluid_build.decisions.files import parse_decisions
from fluid_build.decisions.language import SetConventions
from fluid_build.errors import DecisionError
from fluid_build.forging import Forged, forge
from fluid_build.sources import open_source
from fluid_build.transform.plan.execution import built
from fluid_build.transform.proof.building import build_and_prove
from tests.examples import dear_property
from tests.test_forge import build_shop

_CLAIMS = """
CREATE TABLE policies (policy_no INTEGER PRIMARY KEY, product TEXT);
CREATE TABLE garages (garage_no INTEGER PRIMARY KEY, town TEXT);
CREATE TABLE claims (claim_no INTEGER PRIMARY KEY, policy_no INTEGER REFERENCES policies,
    garage_no INTEGER REFERENCES garages, reported_at TEXT, amount REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
INSERT INTO policies SELECT i, 'product ' || (i % 5) FROM n;
INSERT INTO garages SELECT policy_no, 'town ' || policy_no FROM policies;
INSERT INTO claims SELECT policy_no, 1 + policy_no * 7 % 60, 1 + policy_no * 11 % 60,
    date('2024-01-01', policy_no || ' days'), policy_no * 1.25 FROM policies;
"""
_WORDS = ("a", "dwh", "ldts", "rsrc", "hk", "key", "the_date", "x1")
_PREFIX = st.sampled_from(_WORDS).map(lambda word: f"{word}_")
_PATTERN = st.sampled_from(["hk_<name>", "<name>_key", "hk_<name>_h", "<name>_hk", "id_<name>"])
_MARKS = st.sampled_from(["||", "^^", ";", "~", "#!", "|", "@@"])


@st.composite
def _conventions(draw: st.DrawFn) -> SetConventions:
    """Any conventions that agree among themselves."""
    names = draw(st.permutations(_WORDS))
    kinds = [name for name in ColumnNames.model_fields if not name.endswith("_key")]
    columns = dict(zip(kinds, names, strict=False))
    patterns = {"hub_key": draw(_PATTERN), "link_key": draw(_PATTERN)}
    separator, null_token = draw(
        st.tuples(_MARKS, _MARKS).filter(lambda marks: marks[0][0] != marks[1][0])
    )
    return SetConventions(
        preset=draw(st.sampled_from([None, *PRESETS])),
        prefixes=Prefixes(**{kind: draw(_PREFIX) for kind in Prefixes.model_fields}),
        columns=ColumnNames(**columns, **patterns) if draw(st.booleans()) else None,
        hashing=Hashing(
            function=draw(st.sampled_from(["md5", "sha1", "sha256"])),
            case=draw(st.sampled_from(["preserve", "upper"])),
            trim=draw(st.booleans()),
            empty=draw(st.sampled_from(["value", "null"])),
            separator=separator,
            null_token=null_token,
            marks=draw(st.sampled_from(["escaped", "kept", "replaced"])),
            hash_diff_case=draw(st.sampled_from(["preserve", "upper"])),
            hash_diff_order=draw(st.sampled_from(["table", "name"])),
            all_null=draw(st.sampled_from(["hash", "zero_key"])),
            stored_as=draw(st.sampled_from(["text", "binary"])),
        ),
    )


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shop(tmp_path_factory.mktemp("conventions") / "shop.sqlite")


def forged(
    database: Path,
    *decisions: SetConventions,
    technique: str = "data_vault_2",
    business_vault: bool = False,
    out: Path | None = None,
) -> Forged:
    with closing(open_source(str(database))) as source:
        return forge(
            source,
            out=out,
            technique=technique,
            business_vault=business_vault,
            decisions=decisions,
        )


def columns(result: Forged, relation: str) -> set[str]:
    return {column.name for column in result.plan.build(relation).columns}


@dear_property
@given(st.data())
def test_whatever_the_conventions_the_vault_is_proven_and_loads_nothing_again(
    shop: Path, data: st.DataObject
) -> None:
    decision = data.draw(_conventions())
    result = forged(shop, decision, business_vault=data.draw(st.booleans()))
    assert [verdict.status for verdict in result.verdicts] == ["accepted"]
    for build in result.plan.builds:
        names = [column.name for column in build.columns]
        assert len(set(names)) == len(names), build.name
    with closing(open_source(str(shop))) as source:
        assert build_and_prove(source, result.plan, result.model).holds
        with built(source, result.plan) as warehouse:
            stored = [b.name for b in result.plan.builds if b.layer == "raw_vault"]
            before = {name: warehouse.rows(f"model.{name}") for name in stored}
            warehouse.load(datetime(2001, 1, 1))
            assert {name: warehouse.rows(f"model.{name}") for name in stored} == before


@pytest.mark.parametrize("technique", ["flat", "dimensional"])
@dear_property
@given(st.data())
def test_whatever_the_conventions_other_techniques_are_proven(
    shop: Path, technique: str, data: st.DataObject
) -> None:
    result = forged(shop, data.draw(_conventions()), technique=technique)
    with closing(open_source(str(shop))) as source:
        assert build_and_prove(source, result.plan, result.model).holds


def test_relations_and_columns_have_the_names_of_the_conventions(shop: Path) -> None:
    result = forged(
        shop,
        SetConventions(
            prefixes=Prefixes(hub="h_", satellite="s_", staging="staging_"),
            columns=ColumnNames(load_date="ldts", record_source="rsrc", hub_key="hk_<name>"),
        ),
    )
    assert columns(result, "h_customer") >= {"hk_customer", "ldts", "rsrc"}
    assert columns(result, "s_customer") >= {"hk_customer", "ldts", "rsrc", "hash_diff"}
    assert "staging_customer" in {build.name for build in result.plan.builds}


def test_a_link_says_so_where_its_hub_has_the_name_of_its_key(tmp_path: Path) -> None:
    """Both are called alike under AutomateDV's pattern."""
    database = tmp_path / "claims.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(_CLAIMS)
    vault = forged(database, SetConventions(preset="automate_dv")).model.dv2
    assert vault is not None
    assert "claims_hk" in {hub.hash_key for hub in vault.hubs}
    assert {link.hash_key for link in vault.links} == {"claims_link_hk"}
    satellites = {each.parent: each.hash_key for each in vault.satellites}
    assert satellites.get("link_claims", "claims_link_hk") == "claims_link_hk"


def test_a_star_has_the_prefixes_of_the_conventions(shop: Path) -> None:
    decision = SetConventions(prefixes=Prefixes(dimension="d_", fact="f_"))
    result = forged(shop, decision, technique="dimensional")
    assert {"d_customer", "f_order_detail"} <= {build.name for build in result.plan.published} | {
        build.name.rstrip("s") for build in result.plan.published
    }


@pytest.mark.parametrize("technique", ["flat", "data_vault_2", "dimensional"])
def test_conventions_that_say_nothing_change_no_byte_of_the_project(
    shop: Path, tmp_path: Path, technique: str
) -> None:
    folder = tmp_path / "model"
    texts = []
    for decisions in ((), (SetConventions(),)):
        forged(shop, *decisions, technique=technique, out=folder)
        files = [*(folder / "dbt").rglob("*.*"), folder / "model.json", folder / "plan.json"]
        texts.append({file: file.read_bytes() for file in files if file.is_file()})
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("total", "`Order Details.Total` is called `total` already"),
        ("order", "`order` is reserved on a target"),
        ("valid_from", "`valid_from` is a name that loads use themselves"),
    ],
)
def test_a_name_that_something_else_has_is_refused_with_what_to_change(
    shop: Path, name: str, sentence: str
) -> None:
    result = forged(shop, SetConventions(columns=ColumnNames(load_date=name)))
    (verdict,) = result.verdicts
    assert verdict.status == "refused"
    assert verdict.message.startswith(sentence)
    assert "Choose another name for `load_date`" in verdict.message
    assert "load_date" in columns(result, "hub_customer")


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("prefixes: {hub: Hub}", "`prefixes.hub` isn't a plain name"),
        ("columns: {hub_key: customer}", "`columns.hub_key` isn't a plain name"),
        ("columns: {load_date: x, record_source: x}", "can't both be called `x`"),
        ("hashing: {separator: '^', null_token: '^^'}", "must begin with different characters"),
        ("preset: dbtvault", "`preset` isn't valid"),
        ("preset: automate_dv\n  by: model", "only a person can set the conventions"),
    ],
)
def test_what_is_wrong_with_conventions_is_said_when_they_are_read(
    entry: str, problem: str
) -> None:
    with pytest.raises(DecisionError, match=r".") as raised:
        parse_decisions(f"decisions:\n- decision: conventions\n  {entry}\n")
    assert problem in str(raised.value)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_the_default_of_what_isnt_said(preset: Preset) -> None:
    decision = SetConventions(preset=preset, columns=ColumnNames(load_date="loaded"))
    kept = decision.conventions.columns.model_copy(
        update={"load_date": PRESETS[preset].columns.load_date}
    )
    assert decision.conventions.columns.load_date == "loaded"
    assert kept == PRESETS[preset].columns
    assert decision.conventions.hashing == PRESETS[preset].hashing


def test_conventions_are_written_as_they_were_given() -> None:
    given_ = SetConventions(preset="automate_dv", hashing=Hashing(trim=False))
    assert given_.model_dump(exclude_none=True)["hashing"] == {"trim": False}
    assert Conventions().model_dump() == {}


def test_a_forge_warns_when_the_hashes_of_a_folder_change(shop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    assert forged(shop, out=folder).notes == ()
    changed = SetConventions(hashing=Hashing(case="upper", trim=True))
    (note,) = forged(shop, changed, out=folder).notes
    assert "in case and trim" in note
    assert "begins a new history" in note.replace("\n", " ")
    assert forged(shop, changed, out=folder).notes == ()
    renamed = SetConventions(
        columns=ColumnNames(load_date="ldts"), hashing=Hashing(case="upper", trim=True)
    )
    note, version = forged(shop, renamed, out=folder).notes
    assert "version" in version
    assert "in load_date" in note
