"""Contract files: what is read from them, with which lines, and what is refused."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.contract.read.files import read_contract, read_located, validate_file
from fluid_build.contract.read.located import MAX_DEPTH
from fluid_build.contract.read.parsers import read_json, read_yaml
from fluid_build.errors import SourceNotFoundError, SourceUnreadableError
from tests.contract.contracts import contract, expose

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def refusal(text: str, name: str = "c.yaml") -> SourceUnreadableError:
    with pytest.raises(SourceUnreadableError) as refused:
        (read_json if name.endswith(".json") else read_yaml)(text, name)
    assert refused.value.hint
    return refused.value


def test_a_yaml_file_is_read(tmp_path: Path) -> None:
    """A YAML file gives its document."""
    file = tmp_path / "contract.fluid.yaml"
    file.write_text("id: a\nexposes:\n  - exposeId: x\n", encoding="utf-8")
    assert read_contract(file) == {"id": "a", "exposes": [{"exposeId": "x"}]}


def test_a_json_file_is_read(tmp_path: Path) -> None:
    """A JSON file gives its document, byte order mark or not."""
    file = tmp_path / "contract.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(contract()).encode())
    assert read_contract(file) == contract()
    assert validate_file(file) == ()


@given(VALUES)
def test_json_is_read_as_json(value: object) -> None:
    """Any JSON text gives what a JSON parser gives."""
    text = json.dumps(value, indent=1)
    assert read_json(text, "c.json").document == json.loads(text)


@given(VALUES)
def test_yaml_is_read_as_yaml(value: object) -> None:
    """Any YAML text of JSON data gives what a safe YAML parser gives."""
    text = yaml.dump(value, Dumper=yaml.CSafeDumper)
    assert read_yaml(text, "c.yaml").document == yaml.load(text, Loader=yaml.CSafeLoader)


def test_dates_stay_text() -> None:
    """What YAML would turn into a date is the text that was written."""
    text = "a: 2024-01-01\nb: 2024-01-01T10:00:00Z\n2024-01-01: c\n"
    assert read_yaml(text, "c.yaml").document == {
        "a": "2024-01-01",
        "b": "2024-01-01T10:00:00Z",
        "2024-01-01": "c",
    }


def test_anchors_and_merge_keys_are_followed() -> None:
    """What is anchored can be used again, also as the ground of another mapping."""
    text = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: *a\nd: {<<: [*a, {z: 4}]}\n"
    assert read_yaml(text, "c.yaml").document == yaml.safe_load(text)


def test_findings_carry_the_line_of_yaml(tmp_path: Path) -> None:
    """Each finding of a YAML file has the line of its key or item."""
    file = tmp_path / "c.yaml"
    file.write_text(
        "fluidVersion: 0.7.2\nkind: DataProdct\nid: x\n# a comment\nname: >\n  folded\n"
        "metadata:\n  owner: {}\ntags:\n- ok\n- NOT OK\nexposes:\n- exposeId: t\n  knd: table\n"
    )
    lines = {finding.path: finding.line for finding in validate_file(file)}
    assert lines == {"kind": 2, "tags[1]": 11, "exposes[0]": 13, "exposes[0].knd": 14}


def test_findings_carry_the_line_of_json(tmp_path: Path) -> None:
    """Each finding of a JSON file has its line, too."""
    file = tmp_path / "c.json"
    document = contract(exposes=[expose(kind="tabel")])
    file.write_text(json.dumps(document, indent=2))
    (finding,) = validate_file(file)
    assert '"kind": "tabel"' in file.read_text().splitlines()[(finding.line or 0) - 1]


def test_every_path_of_a_document_has_a_line(tmp_path: Path) -> None:
    """The lines know the whole document, every key and item."""
    located = read_located(_written(tmp_path, "a:\n  b:\n  - c\n  - {d: 1}\n"))
    paths = [(), ("a",), ("a", "b"), ("a", "b", 0), ("a", "b", 1), ("a", "b", 1, "d")]
    assert located.lines == dict(zip(paths, [1, 1, 2, 3, 4, 4], strict=True))


def _written(folder: Path, text: str) -> Path:
    file = folder / "c.yaml"
    file.write_text(text)
    return file


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    """A missing file is named as missing."""
    with pytest.raises(SourceNotFoundError, match="doesn't exist"):
        read_contract(tmp_path / "none.yaml")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """A folder is named as a folder."""
    with pytest.raises(SourceUnreadableError, match="is a folder"):
        read_contract(tmp_path)


def test_other_encodings_are_refused_with_the_place(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are refused at their line and column."""
    file = tmp_path / "c.yaml"
    file.write_bytes("id: a\nname: Zoë\n".encode("latin-1"))
    with pytest.raises(SourceUnreadableError, match="line 2, column 9: it isn't UTF-8 text"):
        read_contract(file)


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    """A file that is far too large for a contract is not even read."""
    file = tmp_path / "c.yaml"
    with file.open("wb") as sparse:
        sparse.truncate(129 * 1024 * 1024)
    with pytest.raises(SourceUnreadableError, match="larger than 128 MB"):
        read_contract(file)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3, column 1: the key `a` occurs twice (first on line 1)"),
        ("a: {b: 1, b: 2}", "line 1, column 11: the key `b` occurs twice"),
        ("on: 1", "line 1, column 1: the key `on` is read as true or false"),
        ("a:\n  2024: x", "line 2, column 3: the key `2024` is read as a number"),
        ("~: 1", "the key `~` is read as null"),
        ("? [a]\n: 1", "a key must be text, not a list or mapping"),
        ("a: !!python/object/apply:os.system [ls]", "tag `tag:yaml.org,2002:python/object"),
        ("a: !mine x", "the tag `!mine` isn't allowed"),
        ("a: !!binary aGk=", "the tag `tag:yaml.org,2002:binary` isn't allowed"),
        ("a: !!int x", "`x` doesn't match its tag"),
        ("a: *b", "the alias `*b` has no anchor before it"),
        ("a: &a [*a]", "the alias `*a` contains itself"),
        ("a: 1\n---\nb: 2", "line 2, column 1: a second document begins here"),
        ("# nothing\n", "it's empty"),
        ("a: [1, 2\n\nb: 3\n", "line 3"),
        ("a: b: c", "line 1, column 5: mapping values are not allowed in this context"),
        ("a: \x01", "line 1, column 4: it has a control character"),
        ("a: " + "9" * 500, "a number is longer than 400 characters"),
        ("<<: 3", "`<<` needs a mapping"),
    ],
)
def test_bad_yaml_is_refused_with_the_place(text: str, what: str) -> None:
    """What can't be read as one safe document is refused with line and column."""
    assert what in refusal(text).message


def test_a_tab_in_the_indentation_is_named() -> None:
    """Where a tab indents, the advice is to use spaces."""
    refused = refusal("a:\n\t- b\n")
    assert "line 2, column 1" in refused.message
    assert refused.hint == "Indent with spaces; YAML doesn't allow tabs there."


def test_aliases_may_not_unfold_without_end() -> None:
    """A file whose aliases unfold to billions of values is refused at once."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 15)]
    assert "more than 1,000,000 values" in refusal("\n".join(lines)).message


def test_aliases_may_not_nest_without_end() -> None:
    """Depth that aliases make counts like depth that is written."""
    lines = ["a0: &a0 [x]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 200))]
    assert f"more than {MAX_DEPTH} levels deep" in refusal("\n".join(lines)).message


@pytest.mark.parametrize("name", ["c.yaml", "c.json"])
def test_nesting_is_bounded(name: str) -> None:
    """A file that is nested without end is refused."""
    assert "deep" in refusal("[" * 100_000 + "]" * 100_000, name).message


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"a": 1,\n "a": 2}', "line 2, column 2: the key `a` occurs twice (first on line 1)"),
        ('{"a": NaN}', "a number that JSON doesn't allow"),
        ('{"a": "\\ud800"}', "line 1, column 7: it has half of a surrogate pair"),
        ('{"a": 1,}', "line 1"),
        ("", "line 1, column 1: expecting value"),
        ('{"a": ' + "9" * 5000 + "}", "too long to read"),
    ],
)
def test_bad_json_is_refused_with_the_place(text: str, what: str) -> None:
    """What isn't JSON is refused, with line and column where they're known."""
    assert what in refusal(text, "c.json").message
