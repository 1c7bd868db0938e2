"""The contract: its text, unpacked and folded by the browser."""

from dataclasses import dataclass

from fluid_build.report.page.content import BuiltContent
from fluid_build.report.page.packed import packed


@dataclass(frozen=True, slots=True)
class ContractPage:
    """The text of a contract, packed, and its number of lines."""

    text: str
    lines: int


def contract_page(built: BuiltContent) -> ContractPage:
    """Return the contract of a page."""
    return ContractPage(packed(built.contract), built.contract.count("\n"))
