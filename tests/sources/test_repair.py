"""Records that a reader refused, as their fields."""

import pytest

from fluid_build.sources.files.delimited.dialect import Dialect
from fluid_build.sources.files.delimited.repair import Rejected, fields_of

DIALECT = Dialect(",", '"', header=True, preamble=0, names=("a", "b", "c"))


@pytest.mark.parametrize(
    ("kind", "text", "records"),
    [
        ("CAST", "1,2,3", [["1", "2", "3"]]),
        ("CAST", "1,2,3\n4,5,6\n7,8,9\n", [["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]]),
        ("UNQUOTED VALUE", '1,"a,3\n4,5,6', [["1", '"a', "3"], ["4", "5", "6"]]),
        ("UNQUOTED VALUE", '1,"a\nb" c,3\n4,5,6\n', [["1", '"a\nb" c', "3"], ["4", "5", "6"]]),
        ("UNQUOTED VALUE", '"c"d,"e""f" ,"g"', [['"c"d', 'e"f ', "g"]]),
    ],
    ids=["one", "three", "a quote that nobody closed", "a value of two lines", "beside others"],
)
def test_every_record_of_a_refused_piece_is_kept(
    kind: str, text: str, records: list[list[str]]
) -> None:
    assert fields_of(Rejected(kind, 1, text), DIALECT) == records
