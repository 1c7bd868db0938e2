"""What the footers of Parquet files say: their schemas, and how much there is to read.

The footers of all files are read by one query: of remote folders each takes a request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import duckdb

from fluid_build.sources.text_values.encodings import check_expansion
from fluid_build.sources.uri import as_pattern

SchemaRow: TypeAlias = tuple[str, int, str, str, int, bool, str]
"""An element's name, number of children, logical type, stored type, precision, whether it's
repeated, and DuckDB's type."""

_BYTES_OF_VALUE = 8
"""What a value of a repeated run takes once it's read: the engine has most of them as 64 bits."""
_VALUES_OF_ITEM = 3
"""An item of a list becomes a row: with its own value, its parent's key, and its place."""
_BYTES_OF_CONSTANT = 1
"""What a null counts, and a value where all are the same: the engine keeps many of them as one."""

_FOOTERS = f"""
SELECT
  parquet_file_metadata[1].file_name,
  parquet_file_metadata[1].file_size_bytes,
  coalesce(list_sum(list_transform(parquet_metadata, lambda c:
    c.num_values * if(c.num_values > c.row_group_num_rows, {_VALUES_OF_ITEM}, 1)
  )), 0) * {_BYTES_OF_VALUE},
  coalesce(list_sum(list_transform(parquet_metadata, lambda c:
    CASE
      WHEN c.num_values > c.row_group_num_rows
      THEN c.num_values * {_VALUES_OF_ITEM * _BYTES_OF_VALUE}
      WHEN c.stats_min_value = c.stats_max_value AND c.min_is_exact AND c.max_is_exact
      THEN c.num_values * {_BYTES_OF_CONSTANT}
      ELSE coalesce(c.stats_null_count, 0) * {_BYTES_OF_CONSTANT}
        + (c.num_values - coalesce(c.stats_null_count, 0)) * {_BYTES_OF_VALUE}
    END
  )), 0),
  coalesce(list_sum(list_transform(parquet_metadata, lambda c: c.total_uncompressed_size)), 0),
  list_transform(parquet_schema, lambda e: (
    e.name, coalesce(e.num_children, 0), coalesce(CAST(e.logical_type AS VARCHAR), ''),
    coalesce(e.type, ''), coalesce(e.precision, 0),
    coalesce(e.repetition_type = 'REPEATED', false), coalesce(e.duckdb_type, '')
  )),
  list_filter(parquet_kv_metadata, lambda pair: pair.key = 'ARROW:schema'::BLOB)[1].value
FROM parquet_full_metadata(?)
"""


@dataclass(frozen=True, slots=True)
class Footer:
    """What a file's footer says.

    ``size`` is the file's, in bytes. ``values`` is what its values take if none is like another,
    ``work`` what they take as far as nulls and columns of one value tell, and ``pages`` what they
    take as they are encoded. ``schema`` is depth first; ``arrow_schema`` is Arrow's own, if it is
    there.
    """

    size: int
    values: int
    work: int
    pages: int
    schema: Sequence[SchemaRow]
    arrow_schema: bytes | None

    def check_size(self) -> None:
        """Raise ValueError where a file holds so much, by its footer, that it was made to hurt."""
        check_expansion(self.size, max(self.work, self.pages), whole=max(self.values, self.pages))


def footers_of(connection: duckdb.DuckDBPyConnection, places: Sequence[str]) -> dict[str, Footer]:
    """Return the footers of the files at some places. Raises duckdb.Error."""
    known = _read(connection, places)
    # Of a single file it doesn't matter how DuckDB spells its place.
    return {
        place: known[place] if place in known else next(iter(_read(connection, [place]).values()))
        for place in places
    }


def _read(connection: duckdb.DuckDBPyConnection, places: Sequence[str]) -> Mapping[str, Footer]:
    rows = connection.execute(_FOOTERS, [[as_pattern(place) for place in places]]).fetchall()
    return {name: Footer(*facts) for name, *facts in rows}
