"""The version of a folder's contract, which goes on from the contract that is there.

What a forge wrote last is compared with what it writes now: a person's edits stay whatever the
source does, and are no change of it. All exposes of a contract have one version, so that it's also
the version of the product in formats that have one for it.
"""

from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from fluid_build.contract.differences import Comparable, Differences, differences
from fluid_build.contract.differences.differing import (
    NextVersion,
    higher_version,
    highest_version,
    version_after,
)
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.read.files import CONTRACT_FILE, read_contract
from fluid_build.contract.read.parsers import read_yaml
from fluid_build.contract.rule_limits import is_kept
from fluid_build.contract.validation import parse_contract
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.errors import ContractError, SourceError
from fluid_build.forging.project_edits import recorded_text
from fluid_build.json_types import JsonObject
from fluid_build.text import as_sentence
from fluid_build.transform.proof.folder_changes import digest_on_disk, manifest_there

_REASON = "version-reason"
"""Label of a contract that says what its version rests on."""


@dataclass(frozen=True, slots=True)
class EarlierContract:
    """What a forge wrote last to a folder, and the highest version that is there now."""

    document: JsonObject
    version: str


@dataclass(frozen=True, slots=True)
class ContractChange:
    """A contract that goes on from an earlier one, with what parts the two."""

    contract: FluidContract
    version: NextVersion
    found: Differences

    @property
    def note(self) -> str:
        """The next version in a sentence, "" where it stays."""
        if self.version.bump == "none":
            return ""
        return (
            f"The contract's version is {self.version.next}, and was {self.version.version}."
            f" {as_sentence(f'{self.version.bump.capitalize()}: {self.version.reason}')}"
        )


def earlier_contract(out: Path, *, overwrite: bool = False) -> EarlierContract | None:
    """Return the contract of a folder; None where there is none that can be read.

    One that can't be read isn't replaced either: somebody edited it. Raises OutputError where
    the folder's manifest can't be read, unless everything is overwritten.
    """
    manifest, path = manifest_there(out, overwrite=overwrite), out / CONTRACT_FILE
    if manifest is None or not path.is_file():
        return None
    try:
        there = read_contract(path)
        text = None
        if digest_on_disk(path) != manifest.files.get(CONTRACT_FILE):
            text = recorded_text(out, manifest, CONTRACT_FILE)
        written = there if text is None else read_yaml(text, CONTRACT_FILE).document
        parse_contract(written)
    except (SourceError, ContractError):
        return None
    in_place = highest_version(there) if isinstance(there, dict) else ""
    return EarlierContract(written, higher_version(highest_version(written), in_place))


def continued(
    contract: FluidContract, earlier: EarlierContract | None, taken: Set[str] = frozenset()
) -> ContractChange | None:
    """Return a contract as the next version of an earlier one; None where it's the first.

    It's none of those that are ``taken``.
    """
    if earlier is None or not earlier.version:
        return None
    contract = _with_kept_limits(contract, parse_contract(earlier.document))
    place = Path(CONTRACT_FILE)
    found = differences(
        Comparable("contract", place, earlier.document),
        Comparable("contract", place, as_document(contract)),
    )
    version = version_after(earlier.version, found, taken)
    labels = dict(contract.labels or {})
    before = earlier.document.get("labels")
    if version.bump != "none":
        labels[_REASON] = f"{version.bump} since {version.version}: {version.reason}"
    elif isinstance(before, dict) and isinstance(before.get(_REASON), str):
        labels[_REASON] = str(before[_REASON])
    exposes = [expose.model_copy(update={"version": version.next}) for expose in contract.exposes]
    written = contract.model_copy(update={"labels": labels, "exposes": exposes})
    return ContractChange(written, version, found)


def _with_kept_limits(contract: FluidContract, earlier: FluidContract) -> FluidContract:
    """Return a contract with the limits of an earlier one, where they still fit the data."""
    limits = {rule.id: rule.threshold for expose in earlier.exposes for rule in expose.rules}
    exposes = []
    for expose in contract.exposes:
        rules = []
        for rule in expose.rules:
            limit = limits.get(rule.id)
            keeps = limit and rule.threshold and is_kept(limit, rule.threshold)
            rules.append(rule.model_copy(update={"threshold": limit}) if keeps else rule)
        dq = expose.contract.dq and expose.contract.dq.model_copy(update={"rules": rules})
        promise = expose.contract.model_copy(update={"dq": dq})
        exposes.append(expose.model_copy(update={"contract": promise}))
    return contract.model_copy(update={"exposes": exposes})
