"""Hash inputs: never the same for two keys, and the same for one key wherever it is read."""

import hashlib
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fluid_build.decisions.conventions import PRESETS, Preset
from fluid_build.modeling.conventions import hash_key_strategy
from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.dimensional.star import values_hash
from fluid_build.transform.plan.hashing import hashed, written, written_or_token, zero_key
from tests.transform.data_vault.shop import REFERENCES, SHOP
from tests.transform.data_vault.vaults import vault

_SIGNS = "|\\^~#a0-. "
_CONNECTION = duckdb.connect()


@st.composite
def strategies(draw: st.DrawFn) -> HashKeyStrategy:
    """Any strategy that can tell its own signs apart."""
    escape, delimiter, null = draw(st.permutations(_SIGNS))[:3]
    tail = st.text(_SIGNS, max_size=2)
    return HashKeyStrategy(
        algorithm=draw(st.sampled_from(["md5", "sha256"])),
        escape=escape,
        delimiter=delimiter + draw(tail),
        null_token=null + draw(tail),
    )


_TEXT = st.none() | st.text(_SIGNS + "b", max_size=4)
_KEYS = st.integers(1, 3).flatmap(
    lambda width: st.tuples(*(st.tuples(*[_TEXT] * width) for _ in range(2)))
)


def hash_of(key: tuple[str | None, ...], strategy: HashKeyStrategy) -> object:
    """The hash key that the SQL of a build gives."""
    texts = ["CAST(NULL AS VARCHAR)" if text is None else literal(text) for text in key]
    parts = [written_or_token(text, "VARCHAR", strategy) for text in texts]
    row = _CONNECTION.execute(f"SELECT {hashed(parts, strategy)}").fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(
    ("preset", "key", "input_"),
    [
        ("automate_dv", (" a|b ", None, ""), "A|B||^^||^^"),
        ("automate_dv", ("x||y", "z"), "X||Y||Z"),
        ("datavault4dbt", (" a b ", None, ""), '"A B"||^^||""'),
        ("datavault4dbt", ('q"r"', r"b\\s"), '"QDV4DBT-QUOTE-REPLACEMENTR""||"B' + r'\\\S"'),
        ("datavault4dbt", ("^^", "||"), '"DV4DBT-NULL-REPLACEMENT"||"DV4DBT-CONCAT-REPLACEMENT"'),
        ("datavault4dbt", ("l\nm\tn\n",), '"LMN\n"'),
    ],
)
def test_a_preset_hashes_a_key_as_its_package_does(
    preset: Preset, key: tuple[str | None, ...], input_: str
) -> None:
    """``bench/vault_packages.py`` compares with the packages themselves."""
    found = hash_of(key, hash_key_strategy(PRESETS[preset].hashing))
    digest = hashlib.md5(input_.encode())
    assert found == (digest.digest() if preset == "automate_dv" else digest.hexdigest())


@given(strategies(), _KEYS)
def test_two_different_keys_never_share_a_hash(
    strategy: HashKeyStrategy, keys: tuple[tuple[str | None, ...], tuple[str | None, ...]]
) -> None:
    """Whatever the signs of the strategy, and wherever they occur in a key."""
    one, other = keys
    assert (hash_of(one, strategy) == hash_of(other, strategy)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a|", "b"), ("a", "|b")),
        (("a||b", ""), ("a", "b||")),
        (("^^", "x"), (None, "x")),
        (("", None), (None, "")),
        (("a\\", "b"), ("a", "\\b")),
        (("\\|", ""), ("|", "")),
        (("a", "b"), ("b", "a")),
        (("1", "11"), ("11", "1")),
    ],
)
def test_usual_collisions_have_different_hashes(
    one: tuple[str | None, ...], other: tuple[str | None, ...]
) -> None:
    """Delimiters and null tokens inside a part, order, and the borders between parts."""
    assert hash_of(one, HashKeyStrategy()) != hash_of(other, HashKeyStrategy())


@pytest.mark.parametrize(
    "signs",
    [
        {"escape": "\\\\"},
        {"escape": ""},
        {"delimiter": ""},
        {"null_token": ""},
        {"delimiter": "^|"},
        {"delimiter": "\\n"},
        {"escape": "^"},
    ],
)
def test_ambiguous_signs_are_refused(signs: dict[str, str]) -> None:
    """A strategy whose escape, delimiter and null token begin alike is no strategy."""
    with pytest.raises(ValidationError):
        HashKeyStrategy.model_validate(signs)


@pytest.mark.parametrize(
    "value",
    [
        "(-9223372036854775807)::BIGINT",
        "(-1.50)::DECIMAL(9, 2)",
        "TRUE",
        "DATE '0044-03-15 (BC)'",
        "'infinity'::TIMESTAMP",
        "TIMESTAMPTZ '2020-01-01 00:00:00.5+02'",
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID",
    ],
)
@pytest.mark.parametrize("sign", list("-.:+ (eTf0"))
def test_signs_inside_a_value_of_any_type_are_escaped(value: str, sign: str) -> None:
    """Where a type's text is known to lack a sign it is left alone, and only there."""
    strategy = HashKeyStrategy(delimiter=sign)
    row = _CONNECTION.execute(f"SELECT typeof({value}), {value}::VARCHAR").fetchone()
    assert row is not None
    type_, _ = row
    text = _CONNECTION.execute(f"SELECT {written(value, type_, strategy)}").fetchone()
    assert text is not None
    bare = str(text[0]).replace("\\" + sign, "")
    assert sign not in bare


def test_a_time_with_a_zone_hashes_the_same_in_every_zone() -> None:
    """The text of such a value depends on the session, its hash does not."""
    value = "TIMESTAMPTZ '2020-01-01 00:00:00+02'"
    part = written(value, "TIMESTAMP WITH TIME ZONE", HashKeyStrategy())
    found = set()
    for zone in ("UTC", "Asia/Tokyo", "America/New_York"):
        with duckdb.connect() as connection:
            connection.execute(f"SET TimeZone = '{zone}'")
            found.add(connection.execute(f"SELECT {part}").fetchone())
    assert len(found) == 1


def test_keys_that_differ_in_case_alone_are_one_where_the_strategy_says_so() -> None:
    """Upper case is for keys; a row has changed even if only its case did."""
    upper = HashKeyStrategy(case="upper")
    assert hash_of(("ab",), upper) == hash_of(("AB",), upper)
    assert hash_of(("ab",), HashKeyStrategy()) != hash_of(("AB",), HashKeyStrategy())


@pytest.mark.parametrize(
    "strategy",
    [
        HashKeyStrategy(algorithm="sha256"),
        HashKeyStrategy(case="upper"),
        HashKeyStrategy(delimiter="0", escape="1", null_token="SKU"),
    ],
    ids=["sha256", "upper", "odd signs"],
)
def test_a_vault_of_any_strategy_rebuilds_everything(
    tmp_path: Path, strategy: HashKeyStrategy
) -> None:
    """Nothing is lost, whichever way hash keys are made."""
    with vault(tmp_path, SHOP, REFERENCES, strategy=strategy) as shop:
        assert shop.lost() == {}
        assert shop.broken() == {}
        length = len(zero_key(strategy)) - 2
        assert shop.rows("SELECT DISTINCT length(product_hk) FROM model.hub_product") == [(length,)]
        shop.change("UPDATE shop.customer SET name = upper(name)")
        assert shop.load() == {"sat_customer": 12}
        assert shop.lost() == {}


def test_a_version_is_hashed_alike_in_every_time_zone() -> None:
    """A moment with a zone is no new version because a later load runs elsewhere."""
    moment = "TIMESTAMP WITH TIME ZONE"
    value = f"CAST('2024-01-01 00:00:00+00' AS {moment})"
    sql = f"SELECT {values_hash([(value, moment)])}"
    found = set()
    with duckdb.connect() as connection:
        for zone in ("UTC", "Asia/Tokyo"):
            connection.execute(f"SET TimeZone = '{zone}'")
            found.add(connection.execute(sql).fetchone())
    assert len(found) == 1


@pytest.mark.parametrize("parts", [200, 201, 1_200])
def test_a_hash_of_many_texts_is_not_nested_too_deep(parts: int) -> None:
    """In groups or not, the text that is hashed is the same."""
    strategy = HashKeyStrategy()
    whole = literal(strategy.delimiter.join(["v"] * parts))
    # Of a table: DuckDB takes minutes to join as many literals while it plans.
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 'v' AS value")
    row = connection.execute(
        f"SELECT {hashed(['value'] * parts, strategy)}, md5({whole}) FROM t"
    ).fetchone()
    assert row is not None
    assert row[0] == row[1]
