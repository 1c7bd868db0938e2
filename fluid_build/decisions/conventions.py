"""The conventions of a warehouse: prefixes, the names of added columns, and how keys are hashed.

Every name that the rooms above give by habit is here, once, as a default. A preset replaces those
by which another tool has loaded a vault, so that it can be continued: the same keys have the same
hashes.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

Preset = Literal["automate_dv", "datavault4dbt"]
Prefix = Annotated[str, Field(max_length=20, pattern=r"^[a-z][a-z0-9_]*_$")]
"""The beginning of a relation's name, with the underscore at its end."""
ColumnName = Annotated[str, Field(max_length=40, pattern=r"^[a-z][a-z0-9_]*$")]
"""Short enough to follow the name of a satellite in a point-in-time table."""
KeyPattern = Annotated[
    str, Field(max_length=30, pattern=r"^([a-z][a-z0-9_]*_<name>(_[a-z0-9_]+)?|<name>_[a-z0-9_]+)$")
]
"""How a hash key is called: ``hk_<name>``, where the name is that of the hub or link."""
Mark = Annotated[str, Field(min_length=1, max_length=10, pattern=r"^[!#$%&+*,./:;<=>?@^_|~-]+$")]
"""A separator or a null token: punctuation that no engine reads otherwise in quotes."""

P = TypeVar("P", bound="_Part")


class _Part(BaseModel):
    """Settings of which only those that somebody gave are written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_serializer(mode="wrap")
    def _as_given(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if name in self.model_fields_set}

    @property
    def given(self) -> frozenset[str]:
        """The names of the settings that differ from the default."""
        return frozenset(
            name
            for name, field in type(self).model_fields.items()
            if getattr(self, name) != field.default
        )

    def replaced_by(self, other: Self) -> Self:
        """Return the settings, those that somebody wrote in the other in their place."""
        return self.model_copy(
            update={name: getattr(other, name) for name in other.model_fields_set}
        )


class Prefixes(_Part):
    """What the names of relations begin with."""

    hub: Prefix = "hub_"
    link: Prefix = "lnk_"
    hierarchical_link: Prefix = "hal_"
    same_as_link: Prefix = "sal_"
    transactional_link: Prefix = "tl_"
    satellite: Prefix = "sat_"
    multi_active_satellite: Prefix = "msat_"
    effectivity_satellite: Prefix = "eff_sat_"
    reference: Prefix = "ref_"
    staging_area: Prefix = "psa_"
    point_in_time: Prefix = "pit_"
    bridge: Prefix = "bridge_"
    snapshot: Prefix = "snapshot_"
    dimension: Prefix = "dim_"
    fact: Prefix = "fct_"
    star_bridge: Prefix = "brg_"
    staging: Prefix = "stg_"

    def relation(self, name: str) -> str:
        """Return the name of a relation by the one that it has without conventions."""
        kinds = {str(field.default): kind for kind, field in type(self).model_fields.items()}
        default = max(filter(name.startswith, kinds), key=len, default="")
        return getattr(self, kinds[default]) + name.removeprefix(default) if default else name

    def stem(self, name: str) -> str:
        """Return the name of a relation without its prefix."""
        kinds = (getattr(self, kind) for kind in type(self).model_fields)
        return name.removeprefix(max(filter(name.startswith, kinds), key=len, default=""))


class ColumnNames(_Part):
    """What the columns are called that loads add."""

    load_date: ColumnName = "load_date"
    record_source: ColumnName = "record_source"
    hash_diff: ColumnName = "hash_diff"
    is_deleted: ColumnName = "is_deleted"
    row_hash: ColumnName = "row_hash"
    multiplicity: ColumnName = "multiplicity"
    hub_key: KeyPattern = "<name>_hk"
    link_key: KeyPattern = "<name>_lk"

    @property
    def replaced(self) -> Mapping[str, str]:
        """The names of columns by those that they have without conventions, where they differ."""
        return {name: getattr(self, name) for name in self.given - {"hub_key", "link_key"}}

    def clashes(self) -> Iterator[str]:
        """Yield what is wrong with the names among themselves, each as a sentence."""
        names = [name for name in type(self).model_fields if not name.endswith("_key")]
        for place, name in enumerate(names):
            for other in names[:place]:
                if getattr(self, name) == getattr(self, other):
                    yield (
                        f"`{other}` and `{name}` can't both be called `{getattr(self, name)}`."
                        f" Give one of them another name."
                    )


class Hashing(_Part):
    """How a business key becomes a hash key, and the columns of a row its hash diff.

    ``case`` and ``trim`` say which business keys are one: with ``upper``, those that differ in case
    alone. ``empty`` says whether text without a character is a value. ``marks`` is what becomes of
    a separator or a null token inside a value: ``escaped`` tells every two lists of values apart,
    ``kept`` doesn't, and ``replaced`` writes words in their place, and each value in quotes.
    ``all_null`` says what the hash diff of a row of nulls is.
    """

    function: Literal["md5", "sha1", "sha256"] = "md5"
    case: Literal["preserve", "upper"] = "preserve"
    trim: bool = False
    empty: Literal["value", "null"] = "value"
    separator: Mark = "||"
    null_token: Mark = "^^"
    marks: Literal["escaped", "kept", "replaced"] = "escaped"
    hash_diff_case: Literal["preserve", "upper"] = "preserve"
    hash_diff_order: Literal["table", "name"] = "table"
    all_null: Literal["hash", "zero_key"] = "hash"
    stored_as: Literal["text", "binary"] = "text"

    def clashes(self) -> Iterator[str]:
        """Yield what is wrong with the marks, each as a sentence."""
        if self.separator[0] == self.null_token[0]:
            yield "`separator` and `null_token` must begin with different characters."


class Conventions(_Part):
    """All conventions together."""

    prefixes: Prefixes = Prefixes()
    columns: ColumnNames = ColumnNames()
    hashing: Hashing = Hashing()

    def clashes(self) -> Iterator[str]:
        """Yield what is wrong with the conventions by themselves, each as a sentence."""
        yield from self.columns.clashes()
        yield from self.hashing.clashes()

    def with_given(
        self,
        prefixes: Prefixes | None = None,
        columns: ColumnNames | None = None,
        hashing: Hashing | None = None,
    ) -> "Conventions":
        """Return the conventions with what somebody wrote in their place."""
        return Conventions(
            prefixes=self.prefixes.replaced_by(prefixes or Prefixes()),
            columns=self.columns.replaced_by(columns or ColumnNames()),
            hashing=self.hashing.replaced_by(hashing or Hashing()),
        )


DEFAULT_CONVENTIONS = Conventions()
# The names are those of each package's own documentation, the hashing is how it's set by default on
# PostgreSQL: ``bench/vault_packages.py`` compares.
PRESETS: Mapping[Preset, Conventions] = {
    "automate_dv": Conventions(
        prefixes=Prefixes(
            link="link_",
            transactional_link="t_link_",
            multi_active_satellite="ma_sat_",
        ),
        columns=ColumnNames(load_date="load_datetime", hash_diff="hashdiff", link_key="<name>_hk"),
        hashing=Hashing(
            case="upper",
            trim=True,
            empty="null",
            marks="kept",
            hash_diff_case="upper",
            hash_diff_order="name",
            stored_as="binary",
        ),
    ),
    "datavault4dbt": Conventions(
        columns=ColumnNames(
            load_date="ldts",
            record_source="rsrc",
            hash_diff="hashdiff",
            hub_key="hk_<name>_h",
            link_key="hk_<name>_l",
        ),
        hashing=Hashing(case="upper", trim=True, marks="replaced", all_null="zero_key"),
    ),
}
