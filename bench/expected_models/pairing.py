"""Which built element is compared with which expected one."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.expected_models.elements import BuiltElement, ExpectedElement

_SHARED_COLUMNS = 0.5
"""Share of the columns of two derived dimensions that they have in common, to be the same."""


@dataclass(frozen=True)
class Pairing:
    """The pairs of expected and built elements, and those of either side that have no partner."""

    pairs: tuple[tuple[ExpectedElement, BuiltElement], ...]
    missed: tuple[ExpectedElement, ...]
    wrong: tuple[BuiltElement, ...]
    absent: tuple[ExpectedElement, ...]
    """Expected elements of which an expert may rightly build nothing, as was done here."""


def pair_elements(expected: Sequence[ExpectedElement], built: Sequence[BuiltElement]) -> Pairing:
    """Pair the elements of one table and kind, those of the same business key first."""
    candidates = [
        (i, j)
        for i, element in enumerate(expected)
        for j, counterpart in enumerate(built)
        if _may_be_same(element, counterpart)
    ]
    candidates.sort(key=lambda pair: built[pair[1]].key not in expected[pair[0]].keys)
    partners: dict[int, int] = {}
    for i, j in candidates:
        if i not in partners and j not in partners.values():
            partners[i] = j
    alone = [element for i, element in enumerate(expected) if i not in partners]
    return Pairing(
        pairs=tuple((expected[i], built[j]) for i, j in sorted(partners.items())),
        missed=tuple(element for element in alone if not element.may_be_absent),
        wrong=tuple(element for j, element in enumerate(built) if j not in partners.values()),
        absent=tuple(element for element in alone if element.may_be_absent),
    )


def _may_be_same(expected: ExpectedElement, built: BuiltElement) -> bool:
    if built.kind not in expected.kinds or bool(expected.columns) != bool(built.columns):
        return False
    if not expected.columns:
        return expected.table == built.table
    shared = len(expected.columns & built.columns)
    return shared >= _SHARED_COLUMNS * len(expected.columns | built.columns)
