"""What the validator says: where, what was found, what is allowed, and the nearest word."""

from typing import Any

import pytest

from fluid_build.contract.fluid import ContractColumn, FluidContract
from fluid_build.contract.validation import Finding, parse_contract, validate
from fluid_build.errors import ContractError
from tests.contract.contracts import contract, expose


def only(document: object) -> Finding:
    findings = validate(document)
    assert len(findings) == 1, findings
    return findings[0]


def with_column(**changes: Any) -> dict[str, Any]:
    column = {"name": "order_id", "type": "integer", **changes}
    return contract(exposes=[expose(contract={"schema": [column]})])


def with_task(**task: Any) -> dict[str, Any]:
    airflow = {"dagId": "nightly", "tasks": [{"taskId": "load", **task}]}
    return contract(orchestration={"engine": "airflow", "airflow": airflow})


def test_a_valid_contract_has_no_findings() -> None:
    """A valid contract has no findings."""
    assert validate(contract()) == ()


def test_the_path_leads_to_the_value() -> None:
    """A finding names the place in the document's own keys and indexes."""
    document = contract(exposes=[expose(), expose(exposeId="lines")])
    document["exposes"][1]["contract"]["schema"][1]["type"] = "strng"
    assert only(document).path == "exposes[1].contract.schema[1].type"


def test_a_misspelt_word_comes_with_the_nearest_allowed_one() -> None:
    """A word that isn't in an enumeration comes with the one that was probably meant."""
    finding = only(contract(exposes=[expose(kind="tabel")]))
    assert finding.message == "`tabel` isn't allowed here; did you mean `table`?"
    assert finding.found == "`tabel`"
    assert finding.nearest == "table"
    assert finding.allowed.startswith("one of `table`, `view`, `api`")


def test_a_misspelt_key_is_one_finding() -> None:
    """A misspelt required key is reported once, not as unknown and as missing."""
    document = contract()
    document["exposse"] = document.pop("exposes")
    finding = only(document)
    assert finding.message == "`exposse` isn't a known key here; did you mean `exposes`?"
    assert finding.nearest == "exposes"
    assert finding.path == "exposse"


def test_an_unknown_key_comes_with_the_known_ones() -> None:
    """A key like no other is reported with the keys that are known there."""
    finding = only(contract(exposes=[expose(zzz=1)]))
    assert finding.message == "`zzz` isn't a known key here"
    assert finding.nearest is None
    assert "`exposeId`" in finding.allowed


def test_the_python_names_of_fields_are_no_keys() -> None:
    """A document has to use the document's spelling, not that of our types."""
    finding = only(contract(exposes=[expose(title="x", expose_id="orders")]))
    assert finding.nearest == "exposeId"


def test_a_missing_key_is_named_with_what_it_should_hold() -> None:
    """A missing key is reported at the mapping that lacks it."""
    table = expose()
    del table["kind"]
    finding = only(contract(exposes=[table]))
    assert (finding.path, finding.message) == ("exposes[0]", "`kind` is missing")
    assert "`table`" in finding.allowed


def test_null_is_not_an_absent_key() -> None:
    """A null is refused, with the advice to leave the key out where that is allowed."""
    finding = only(contract(description=None))
    assert finding.message == "must not be null; leave the key out, or use text"
    assert only(contract(name=None)).message == "must be text that isn't empty"


def test_a_number_where_text_belongs_asks_for_quotes() -> None:
    """What YAML read as a number or boolean is named so, as the writer saw text."""
    message = "must be text, but is read as a number; put it in quotes"
    assert only(contract(exposes=[expose(version=1.0)])).message == message
    message = "must be text, but is read as true or false; put it in quotes"
    assert only(contract(domain=False)).message == message


def test_whole_numbers_may_be_written_with_a_point() -> None:
    """1.0 is a whole number; 1.5 and true aren't."""

    def upkeep(age: object) -> dict[str, Any]:
        return contract(exposes=[expose(iceberg={"compaction": {"targetFileSizeMb": age}})])

    assert validate(upkeep(1.0)) == ()
    assert only(upkeep(1.5)).allowed == "a whole number"
    assert only(upkeep(True)).allowed == "a whole number"


def test_a_repeated_tag_is_reported_where_it_repeats() -> None:
    """The second of two equal tags is reported."""
    finding = only(contract(tags=["a", "b", "a"]))
    assert (finding.path, finding.message) == ("tags[2]", "is already in the list")


def test_a_table_needs_columns_or_an_api() -> None:
    """An expose has a schema or an OpenAPI document."""
    finding = only(contract(exposes=[expose(contract={})]))
    assert finding.path == "exposes[0].contract"
    assert finding.allowed == "`schema` or `openapiRef`"


def test_a_build_is_checked_against_its_own_pattern_alone() -> None:
    """The properties of a build are checked against its pattern, not against every one."""
    build = {"pattern": "embedded-logic", "properties": {"sql": "select 1", "languag": "sql"}}
    finding = only(contract(builds=[build]))
    assert finding.path == "builds[0].properties.languag"
    assert finding.nearest == "language"


def test_a_misspelt_pattern_is_the_only_finding_of_its_build() -> None:
    """A misspelt pattern is one finding, whatever the properties are."""
    build = {"pattern": "multistage", "properties": {"stages": []}}
    assert only(contract(build=build)).nearest == "multi-stage"


def test_properties_of_a_build_need_a_pattern() -> None:
    """A build without a pattern cannot have properties."""
    finding = only(contract(build={"properties": {"sql": "select 1"}}))
    assert finding.message == "a build with `properties` needs `pattern`"


def test_a_value_is_checked_against_the_alternative_of_its_type() -> None:
    """A dataset that is a mapping is checked against the mapping, not against text."""
    trigger = {"datasets": [{"productId": "silver.x"}]}
    finding = only(contract(build={"execution": {"trigger": trigger}}))
    assert finding.path == "build.execution.trigger.datasets[0]"
    assert finding.message == "`exposeId` is missing"


def test_a_value_of_another_type_comes_with_all_alternatives() -> None:
    """A dataset that is a number should be text or a mapping."""
    finding = only(contract(build={"execution": {"trigger": {"datasets": [3]}}}))
    assert finding.message == "must be text or a mapping"


def test_each_missing_key_of_a_provider_action_is_a_finding() -> None:
    """Each key that a provider action needs is a finding of its own."""
    findings = validate(with_task(type="provider_action", operator="X", provider="aws"))
    assert [finding.allowed for finding in findings] == ["`action`", "`params`"]


def test_a_bash_task_needs_its_command() -> None:
    """The parameters of a bash task hold the command."""
    assert validate(with_task(type="bash", operator="X", params={"command": "ls"})) == ()
    finding = only(with_task(type="bash", operator="X", params={}))
    assert finding.path == "orchestration.airflow.tasks[0].params"
    assert finding.allowed == "`bash_command` or `command`"


def test_a_task_that_may_be_of_any_kind_needs_all_their_parameters() -> None:
    """Without a type or an operator, parameters must satisfy every kind of task."""
    assert len(validate(with_task(params={}))) == 3
    assert len(validate(with_task(type="bash", params={"command": "ls"}))) == 2


def test_findings_come_in_the_order_of_the_document() -> None:
    """Findings follow the keys and items as the document has them."""
    document = {"zzz": 1, **contract(name="", tags=["A"])}
    document["exposes"][0]["kind"] = 3
    paths = [finding.path for finding in validate(document)]
    assert paths == ["zzz", "name", "exposes[0].kind", "tags[0]"]


def test_every_finding_is_reported_at_once() -> None:
    """One mistake does not hide another."""
    assert len(validate(contract(id="No Id", name=1, tags={}, kind="x", domain=None))) == 5


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("description", ["postgresql://bob:hunter2@db/x"]),
        ("id", "postgresql://bob:hunter2@db/x"),
        ("id", "ghp_Hunter2hunter2"),
        ("id", "AbC123hunter2hunter2hunter2hunter2"),
        ("environments", {"db_password": "hunter2"}),
    ],
)
def test_secrets_are_not_echoed(key: str, value: object) -> None:
    """A value that looks like a secret isn't in a finding."""
    findings = validate(contract(**{key: value}))
    assert findings
    assert "hunter2" not in repr(findings)


def test_what_is_echoed_is_short_and_printable() -> None:
    """Long values are cut, and what would steer a terminal is escaped."""
    finding = only(contract(id="\x1b[2J\u202e" + "x" * 1000))
    assert finding.found.startswith("`\\x1b[2J\\u202e")
    assert len(finding.found) < 100
    assert only(contract(**{"\x1b" * 500: 1})).path.isprintable()


def test_keys_that_are_not_text_are_reported() -> None:
    """A mapping from Python with a number for a key is refused in words."""
    labels = only(contract(labels={3: "x"}))
    assert labels.message == "every key must be text"


def test_half_a_character_in_a_key_is_reported() -> None:
    """An unknown key with half of a surrogate pair is refused in words."""
    assert only(contract(**{"\ud800": 1})).message == "must be Unicode text"


def test_parse_gives_the_typed_contract() -> None:
    """A valid document becomes the typed contract."""
    parsed = parse_contract(contract())
    assert isinstance(parsed, FluidContract)
    assert parsed.exposes[0].contract.columns == [
        ContractColumn(name="order_id", type="integer", required=True),
        ContractColumn(name="placed_on", type="date"),
    ]


def test_parse_refuses_an_invalid_document_in_one_sentence() -> None:
    """An invalid document is refused with its first finding and their number."""
    with pytest.raises(ContractError) as refused:
        parse_contract(contract(kind="x", domain=3))
    assert "kind: must be one of" in refused.value.message
    assert refused.value.message.endswith("(and 1 more).")


def test_in_python_none_is_an_absent_key() -> None:
    """Our own code may pass None for what it does not know."""
    column = ContractColumn(name="a", type="int", description=None)
    assert column == ContractColumn(name="a", type="int")


@pytest.mark.timeout(30)
def test_a_contract_of_15000_columns_is_judged_within_seconds() -> None:
    """500 tables of 30 columns take about half a second; a quadratic check would take minutes."""
    columns = [
        {"name": f"c{i}", "type": "decimal(10, 2)", "tags": ["a-b"], "labels": {"x": "y"}}
        for i in range(30)
    ]
    tables = [expose(exposeId=f"t{i}", contract={"schema": columns}) for i in range(500)]
    document = contract(exposes=tables)
    assert validate(document) == ()
