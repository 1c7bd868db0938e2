"""A person's edits to generated YAML live through changes of what is generated, entry by entry."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.block_yaml import block_yaml
from fluid_build.forging.entry_merge import entries, identity, merged
from fluid_build.yaml_edits import NotEditableError, edited_yaml, plain_yaml

Document = dict[str, Any]
words = st.text("abc:#'é\n -", min_size=1, max_size=6)
names = st.sampled_from(["a", "b", "c", "d"])


def column(name: str, type_: str, description: str, tested: bool) -> Document:
    tests = {"data_tests": [{"unique": {"name": f"{name}_unique"}}]} if tested else {}
    return {"name": name, "description": description, "data_type": type_, **tests}


columns = st.builds(
    column, names, st.sampled_from(["BIGINT", "VARCHAR"]), st.sampled_from("xyz"), st.booleans()
)
models = st.builds(
    lambda name, parts: {"name": name, "description": f"{name}.", "columns": parts},
    names,
    st.lists(columns, min_size=1, max_size=4, unique_by=lambda each: each["name"]),
)
documents = st.builds(
    lambda parts: {"version": 2, "models": parts},
    st.lists(models, min_size=1, max_size=3, unique_by=lambda each: each["name"]),
)
Edit = tuple[int, int, str, str]
edits = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.integers(0, 9),
        st.sampled_from(["description", "tags", "meta", "test", "owner", "severity"]),
        words,
    ),
    min_size=1,
    max_size=6,
)


def cell(document: Document, model: str, name: str) -> Document | None:
    """Return a column of a document."""
    for part in document.get("models", []):
        for each in part.get("columns", []) if part["name"] == model else []:
            if each["name"] == name:
                return dict(each)
    return None


def edit(document: Document, edits: list[Edit]) -> tuple[Document, list[tuple[str, str, str, Any]]]:
    """Edit a document, and return what a reader must find again, by model and column."""
    there = plain_yaml(block_yaml(document))[1]
    found: dict[tuple[str, str, str], Any] = {}
    edited: Document = dict(there)
    for model_number, column_number, kind, text in edits:
        model = edited["models"][model_number % len(edited["models"])]
        part = model["columns"][column_number % len(model["columns"])]
        place = (model["name"], part["name"])
        if kind in ("description", "owner"):
            part[kind] = found[*place, kind] = f"mine {text}"
        elif kind == "tags":
            part["tags"] = found[*place, kind] = [f"mine {text}"]
        elif kind == "meta":
            part["meta"] = found[*place, kind] = {"mine": text}
        elif kind == "test":
            test = {"not_null": {"name": f"mine_{part['name']}"}}
            tests = part.setdefault("data_tests", [])
            if test not in tests:
                tests.append(test)
            found[*place, "data_tests"] = test
        elif "data_tests" in part and "unique" in part["data_tests"][0]:
            part["data_tests"][0]["unique"]["config"] = {"severity": "warn"}
    return edited, [(*place, value) for place, value in found.items()]


@given(base=documents, ours=documents, edits=edits)
def test_an_edit_stays_or_is_named_whatever_the_next_structure(
    base: Document, ours: Document, edits: list[Edit]
) -> None:
    """In its place where that still is; else among those without a place."""
    theirs, found = edit(base, edits)
    merge = merged(base, theirs, ours, ())
    result, homeless = merge.value, merge.homeless or {}
    assert isinstance(result, dict) and isinstance(homeless, dict)
    for model, name, key, value in found:
        place = result if cell(ours, model, name) is not None else homeless
        part = cell(place, model, name)
        assert part is not None, (model, name, key)
        assert value in part[key] if key == "data_tests" else part[key] == value
    assert bool(homeless) == bool(list(entries(homeless)))


@given(base=documents, ours=documents, edits=edits)
def test_what_nobody_edited_is_as_it_is_generated_now(
    base: Document, ours: Document, edits: list[Edit]
) -> None:
    """Entries that are gone go, new ones come, and the types are those of the source."""
    theirs, found = edit(base, edits)
    result = merged(base, theirs, ours, ()).value
    assert isinstance(result, dict)
    assert {m["name"] for m in result["models"]} == {m["name"] for m in ours["models"]}
    touched = {(model, name, key) for model, name, key, _ in found}
    for model in ours["models"]:
        for each in model["columns"]:
            part = cell(result, model["name"], each["name"])
            assert part is not None
            assert part["data_type"] == each["data_type"]
            if (model["name"], each["name"], "description") not in touched:
                assert part["description"] == each["description"]


@given(base=documents, ours=documents, edits=edits, width=st.sampled_from([0, 60, 120]))
def test_an_edited_text_says_what_was_merged_and_keeps_its_comments(
    base: Document, ours: Document, edits: list[Edit], width: int
) -> None:
    """Each line has a comment; those of what stays are still there."""
    theirs, _ = edit(base, edits)
    lines = block_yaml(theirs, width).splitlines()
    text = "\n".join([f"{line}  # {n}" for n, line in enumerate(lines)]) + "\n"
    result = merged(base, theirs, ours, ()).value
    assert isinstance(result, dict)
    written = edited_yaml(text, result, identity, width)
    assert plain_yaml(written)[1] == result
    assert "version: 2  # 0" in written


@given(base=documents, edits=edits)
def test_without_a_new_structure_a_text_stays_to_the_byte(
    base: Document, edits: list[Edit]
) -> None:
    """Comments, quotes and blank lines are nobody's business."""
    theirs, _ = edit(base, edits)
    text = "# Mine\n\n" + block_yaml(theirs).replace("description: x", "description:   'x'")
    assert edited_yaml(text, merged(base, theirs, base, ()).value, identity) == text  # type: ignore[arg-type]


def contract(document: Document) -> Document:
    """Return what a contract promises of the same models, with a rule for each test."""
    return {"exposes": [_expose(model) for model in document["models"]]}


def _expose(model: Document) -> Document:
    schema = [
        {"name": each["name"], "type": each["data_type"], "description": each["description"]}
        for each in model["columns"]
    ]
    rules = [_rule("ours", model, each) for each in model["columns"] if "data_tests" in each]
    promised = {"schema": schema, **({"dq": {"rules": rules}} if rules else {})}
    return {
        "exposeId": model["name"],
        "description": model["description"],
        "contract": promised,
    }


def _rule(kind: str, model: Document, column: Document) -> Document:
    return {"id": f"{model['name']}.{column['name']}.{kind}", "selector": column["name"]}


def stated(document: Any) -> dict[tuple[str, ...], Document]:
    """Return the tables, columns and rules of a contract by their names."""
    found: dict[tuple[str, ...], Document] = {}
    for expose in (document or {}).get("exposes", []):
        name = expose["exposeId"]
        promised = expose.get("contract", {})
        found[(name,)] = expose
        found |= {(name, each["name"]): each for each in promised.get("schema", [])}
        rules = promised.get("dq", {}).get("rules", [])
        found |= {(name, "rule", each["id"]): each for each in rules}
    return found


@given(base=documents, ours=documents, edits=edits)
def test_an_edit_of_a_contract_stays_or_is_named_whatever_the_next_structure(
    base: Document, ours: Document, edits: list[Edit]
) -> None:
    """What is promised of a column that is gone has no place; all that nobody edited is new."""
    theirs = plain_yaml(block_yaml(contract(base)))[1]
    edited: dict[tuple[str, ...], Document] = {}
    for model_number, column_number, kind, text in edits:
        model = base["models"][model_number % len(base["models"])]
        column = model["columns"][column_number % len(model["columns"])]
        place: tuple[str, ...] = (model["name"], column["name"])
        if kind in ("description", "tags"):
            stated(theirs)[place][kind] = [text] if kind == "tags" else f"mine {text}"
            edited[place] = stated(theirs)[place]
        elif kind == "owner":
            stated(theirs)[place[:1]]["owner"] = {"team": text}
        elif kind == "test":
            rule = _rule("mine", model, column)
            promised = stated(theirs)[place[:1]]["contract"].setdefault("dq", {"rules": []})
            if rule not in promised["rules"]:
                promised["rules"].append(rule)
            edited[model["name"], "rule", rule["id"]] = rule
    merge = merged(contract(base), theirs, contract(ours), ())
    now, result, homeless = map(stated, (contract(ours), merge.value, merge.homeless))
    for place, part in edited.items():
        of_column = place if len(place) == 2 else (place[0], part["selector"])
        there = (result if of_column in now else homeless)[place]
        assert there.get("tags") == part.get("tags")
        if part.get("description", "").startswith("mine"):
            assert there["description"] == part["description"]
    for place, part in stated(theirs).items():
        if "owner" in part:
            assert (result if place in now else homeless)[place]["owner"] == part["owner"]
    assert {place for place in result if place not in edited} == {*now}.difference(edited)
    assert {place: part["type"] for place, part in result.items() if "type" in part} == {
        place: part["type"] for place, part in now.items() if "type" in part
    }
    assert bool(homeless) == bool(list(entries(merge.homeless)))


def model(*columns: Document, **further: Any) -> Document:
    return {"models": [{"name": "orders", "columns": list(columns), **further}]}


def test_a_deletion_is_an_edit() -> None:
    """A test that somebody removed doesn't come back with the next forge."""
    base = model(column("id", "BIGINT", "x", tested=True))
    theirs = model(column("id", "BIGINT", "x", tested=False))
    ours = model(column("id", "BIGINT", "y", tested=True), column("new", "DATE", "x", tested=False))
    expected = model(
        column("id", "BIGINT", "y", tested=False), column("new", "DATE", "x", tested=False)
    )
    assert merged(base, theirs, ours, ()).value == expected


def test_a_type_that_both_changed_is_that_of_the_source() -> None:
    """The contract would fail with any other; the edit is named."""
    base, theirs, ours = (
        model(column("id", type_, "x", tested=False)) for type_ in ("INTEGER", "TEXT", "BIGINT")
    )
    merge = merged(base, theirs, ours, ())
    assert merge.value == ours
    assert list(entries(merge.overruled)) == ["orders.id: data_type"]


def test_what_somebody_added_for_a_column_that_is_gone_has_no_place() -> None:
    """A test of the model that names the column would fail to build."""
    test = {"unique_combination": {"arguments": {"combination_of_columns": ["id", "old"]}}}
    base = model(
        column("id", "BIGINT", "x", tested=False), column("old", "DATE", "x", tested=False)
    )
    ours = model(column("id", "BIGINT", "x", tested=False))
    merge = merged(base, {"models": [{**base["models"][0], "data_tests": [test]}]}, ours, ())
    assert merge.value == ours
    assert merge.homeless == {"models": [{"name": "orders", "data_tests": [test]}]}


def test_an_exposure_stays_without_the_models_that_are_gone() -> None:
    """Otherwise dbt refuses a project that refers to a model that it doesn't have."""
    base = model(column("id", "BIGINT", "x", tested=False))
    exposure = {"name": "sales", "depends_on": ["ref('orders')", "ref('old')"]}
    merge = merged(base, {**base, "exposures": [exposure]}, base, ["old"])
    assert merge.value == {**base, "exposures": [{**exposure, "depends_on": ["ref('orders')"]}]}
    assert list(entries(merge.homeless)) == ["exposures: sales"]


@pytest.mark.parametrize(
    "text",
    ["a: &x 1\nb: *x\n", "a: !!str 1\n", "a: 1\na: 2\n", "- a\n", "a: [\n", "1: [a]\n? [b]\n: c"],
)
def test_a_text_that_is_no_plain_mapping_is_refused(text: str) -> None:
    """It's kept as a whole instead."""
    with pytest.raises(NotEditableError):
        plain_yaml(text)


def test_entries_of_one_name_are_all_kept() -> None:
    """A source may have several blocks, and an edit to the first loses none of them."""
    blocks = [{"name": "shop", "schema": schema, "tables": [{"name": "t"}]} for schema in "ab"]
    edited = [{**blocks[0], "meta": {"asked": "Ann"}}, blocks[1]]
    merge = merged({"sources": blocks}, {"sources": edited}, {"sources": blocks}, ())
    assert merge.value == {"sources": edited}


def test_a_part_on_one_line_is_written_again_and_its_neighbours_stay() -> None:
    """A short part is a line, with the comment behind it; what comes is a line where it fits."""
    text = (
        "rules:\n"
        "- {id: a, type: unique, severity: warn}  # mine\n"
        "- {id: b, type: unique}  # not so sure\n"
        "- {id: c, type: unique}\n"
        "tags: [x]\n"
    )
    rules = [
        {"id": "a", "type": "unique", "severity": "warn"},
        {"id": "b", "type": "unique", "severity": "error"},
        {"id": "d", "type": "not null"},
    ]
    written = edited_yaml(text, {"rules": rules, "tags": ["x", "z"]}, identity, 60)
    assert written == (
        "rules:\n"
        "- {id: a, type: unique, severity: warn}  # mine\n"
        "- {id: b, type: unique, severity: error}  # not so sure\n"
        "- {id: d, type: not null}\n"
        "tags: [x, z]\n"
    )
