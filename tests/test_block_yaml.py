"""YAML that every reader reads back the same."""

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from fluid_build.block_yaml import block_yaml

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LOOKALIKES = """
yes no on off null ~ y N TRUE .5 1e3 0x1F 0o17 012 1_000 12:30:45 2024-01-01 - -- --- ... : a: :a
#a a#b & * ! | > % @ ` ' '' "a" [] {} , ? = << !!str *a &a %TAG -a ?a .inf .NaN +1 -1 1.
"""
AWKWARD = st.sampled_from(LOOKALIKES.split()) | st.sampled_from(
    ["", " ", "a ", " a", "a: b", "a :b", "a #b", "a\n", "\n", "\t", "a\tb", "- a"]
)
SCALARS = TEXTS | AWKWARD | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
DOCUMENTS = st.dictionaries(
    TEXTS | AWKWARD,
    st.recursive(
        SCALARS,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(TEXTS | AWKWARD, inner, max_size=3)
        ),
        max_leaves=8,
    ),
    min_size=1,
    max_size=4,
)


@given(DOCUMENTS, st.sampled_from([0, 24, 120]))
@example({"a": ["\x85\u2028\u2029\ufeff\ufffe\x00\x7f", 1e-07, 1e300, "\N{GRINNING FACE}"]}, 120)
@example({"a": [[], {}, [[1, [2]], {"b": [{}]}]]}, 0)
@example({"a": ["it's, its", "decimal(10,2)", {"a]: b": "a:b"}]}, 120)
def test_any_json_data_is_read_back_as_it_was(document: dict[str, object], width: int) -> None:
    """Each YAML 1.1 reader gets the very same data back, of the same types, in any width."""
    text = block_yaml(document, width)
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        assert yaml.load(text, Loader=loader) == document


@given(DOCUMENTS, st.integers(1, 60))
def test_a_part_is_on_one_line_where_it_fits(document: dict[str, object], width: int) -> None:
    """No line is longer because it holds a part, and one character more can only save lines."""
    text = block_yaml(document, width)
    alone = {line.strip().lstrip("- ") for line in block_yaml(document).splitlines()}
    assert all(
        len(line) <= width or line.strip().lstrip("- ") in alone for line in text.splitlines()
    )
    assert len(block_yaml(document, width + 1).splitlines()) <= len(text.splitlines())


@given(TEXTS | AWKWARD)
def test_text_is_never_taken_for_anything_else(value: str) -> None:
    """A text is text to the reader, whatever it looks like."""
    read = yaml.load(block_yaml({"key": value}), Loader=yaml.CSafeLoader)
    assert isinstance(read["key"], str)


def test_text_that_turns_the_direction_of_reading_is_spelled_out() -> None:
    """Marks that make text look like other text never stand in the file as they are."""
    written = block_yaml({"key": "abc\N{RIGHT-TO-LEFT OVERRIDE}def"})
    assert written == 'key: "abc\\u202edef"\n'


def test_style_is_plain_where_it_can_be() -> None:
    """Ordinary words, names and queries stand bare; nested lists and mappings are indented."""
    document = {
        "name": "album",
        "labels": {"rows": "347", "sql": 'SELECT * FROM "Album" WHERE "Title" IS NULL'},
        "tags": ["a", "b"],
        "none": [],
        "items": [{"id": "x", "threshold": 0.5, "required": True}],
    }
    assert block_yaml(document) == (
        "name: album\n"
        "labels:\n"
        "  rows: '347'\n"
        '  sql: SELECT * FROM "Album" WHERE "Title" IS NULL\n'
        "tags:\n"
        "- a\n"
        "- b\n"
        "none: []\n"
        "items:\n"
        "- id: x\n"
        "  threshold: 0.5\n"
        "  required: true\n"
    )


def test_short_parts_are_lines_where_a_width_is_given() -> None:
    """What a comma, a colon or a bracket would end stands in quotes."""
    document = {
        "tags": ["a", "b"],
        "schema": [{"name": "id", "type": "decimal(10,2)"}, {"name": "a word that is too long"}],
        "rules": [{"id": "x", "labels": {"columns": '["a", "b"]', "at": "a:b"}}],
    }
    assert block_yaml(document, 42) == (
        "tags: [a, b]\n"
        "schema:\n"
        "- {name: id, type: 'decimal(10,2)'}\n"
        "- {name: a word that is too long}\n"
        "rules:\n"
        "- id: x\n"
        "  labels:\n"
        '    columns: \'["a", "b"]\'\n'
        "    at: a:b\n"
    )
