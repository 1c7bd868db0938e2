"""What people wrote into the contract and the dbt project's YAML, put into what a forge writes.

The record in the project has these files as the last forge wrote them, so that an edit is told from
what was generated. Edits to what the model no longer has are moved to a file that dbt doesn't read.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic_core import to_json

from fluid_build.artifacts import Content
from fluid_build.block_yaml import block_yaml
from fluid_build.contract.read.files import CONTRACT_FILE
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.contract.write.yaml_text import LINE_WIDTH
from fluid_build.errors import SourceError
from fluid_build.forging.entry_merge import Merge, entries, identity, joined, merged
from fluid_build.json_types import JsonObject
from fluid_build.transform.proof.folder_changes import digest_on_disk, manifest_there
from fluid_build.transform.proof.manifest import Manifest, digest, read_text
from fluid_build.yaml_edits import NotEditableError, edited_yaml, plain_yaml

RECORD_FILE = f"{DBT_FOLDER}/.generated.json"
HOMELESS_FILE = f"{DBT_FOLDER}/edits_without_a_place.yml"
"""Beside the models, where dbt doesn't look for YAML."""
_HOMELESS_HEAD = """\
# Edits to models, columns and tests that the model no longer has. dbt doesn't read this file: move
# what you still need to its new place, and delete the rest.
"""
_MOST_BYTES = 256 * 1024 * 1024
"""Far more than the properties of a thousand tables take."""


@dataclass(frozen=True, slots=True)
class KeptEdits:
    """What became of edits: the files that were written with them, by name.

    ``homeless`` are the edits that lost their place in this forge, ``overruled`` those that the
    source has overtaken, each as the place and what was edited there.
    """

    files: tuple[str, ...] = ()
    homeless: tuple[str, ...] = ()
    overruled: tuple[str, ...] = ()


NO_EDITS: KeptEdits = KeptEdits()


@dataclass(frozen=True, slots=True)
class MergedFiles:
    """Edited files as they're written, by name; one that is None has nothing left to say."""

    files: Mapping[str, str | None]
    edits: KeptEdits = NO_EDITS

    @property
    def contents(self) -> dict[str, str]:
        """Return the files that are written."""
        return {name: text for name, text in self.files.items() if text is not None}


NOTHING_MERGED = MergedFiles({})


def record(files: Mapping[str, Content]) -> str:
    """Return the text of the record of a folder's files."""
    texts = {name: text for name, text in files.items() if _is_yaml(name)}
    return to_json(texts, indent=1).decode() + "\n"


def merged_files(folder: Path, generated: Mapping[str, Content]) -> MergedFiles:
    """Return a folder's edited contract and YAML files of dbt, merged with the generated ones.

    A file that can't be merged isn't among them, so it's kept as a whole: one that isn't plain
    YAML, or that the record doesn't know.
    """
    manifest = manifest_there(folder)
    edited = [] if manifest is None else list(_edited(folder, manifest))
    if manifest is None or not (edited or (folder / HOMELESS_FILE).is_file()):
        return NOTHING_MERGED
    try:
        before = _homeless_before(folder)
        recorded = _recorded(folder) if edited else {}
        versions = {
            name: _versions(folder / name, text, generated.get(name, ""))
            for name in edited
            if (text := recorded.get(name)) is not None and digest(text) == manifest.files[name]
        }
    except (NotEditableError, SourceError):
        return NOTHING_MERGED
    gone = _models(manifest.files) - _models(generated)
    merges: dict[str, Merge] = {}
    files: dict[str, str | None] = {}
    for name, each in versions.items():
        if each is not None:
            merges[name] = merged(each.base, each.theirs, each.ours, gone)
            width = LINE_WIDTH if name == CONTRACT_FILE else 0
            files[name] = each.written(merges[name], width)
    homeless = _joined([merge.homeless for merge in merges.values()])
    if homeless or before:
        files[HOMELESS_FILE] = _homeless_text(folder, before, joined(before, homeless))
    overruled = _joined([merge.overruled for merge in merges.values()])
    written = tuple(name for name in merges if files[name] is not None)
    edits = KeptEdits(written, tuple(entries(homeless)), tuple(entries(overruled)))
    return MergedFiles(files, edits)


@dataclass(frozen=True, slots=True)
class _Versions:
    text: str
    generated: str
    base: JsonObject
    theirs: JsonObject
    ours: JsonObject

    def written(self, merge: Merge, width: int) -> str | None:
        """Return the text of the file, None where nobody has anything to say in it."""
        if not isinstance(merge.value, dict) or not merge.value.keys() - {"version"}:
            return None
        if merge.value == self.ours:
            return self.generated
        return edited_yaml(self.text, merge.value, identity, width)


def _versions(path: Path, base: str, now: Content) -> _Versions | None:
    """Return the versions of an edited file, None where it can't be merged.

    ``base`` is its text as the last forge wrote it, ``now`` as this one does.
    """
    if not isinstance(now, str):
        return None
    try:
        theirs = read_text(path, _MOST_BYTES)
        documents = [plain_yaml(text)[1] if text else {} for text in (base, theirs, now)]
    except (NotEditableError, SourceError):
        return None
    return _Versions(theirs, now, *documents)


def recorded_text(folder: Path, manifest: Manifest, name: str) -> str | None:
    """Return a file as the last forge wrote it, None where the record doesn't have it so."""
    text = _recorded(folder).get(name)
    return text if text is not None and digest(text) == manifest.files.get(name) else None


def _recorded(folder: Path) -> dict[str, str]:
    """Return the texts of the record by their files, none where it's no record."""
    if not (folder / RECORD_FILE).is_file():
        return {}
    try:
        texts = json.loads(read_text(folder / RECORD_FILE, _MOST_BYTES))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(texts, dict):
        return {}
    return {name: text for name, text in texts.items() if isinstance(text, str)}


def _edited(folder: Path, manifest: Manifest) -> Iterator[str]:
    for name in sorted(manifest.files.keys() - manifest.foreign):
        is_ours = _is_yaml(name) and name != HOMELESS_FILE and ".." not in PurePosixPath(name).parts
        if is_ours and digest_on_disk(folder / name) not in (None, manifest.files[name]):
            yield name


def is_built(name: str) -> bool:
    """Return whether a file decides what dbt builds."""
    return name.startswith(f"{DBT_FOLDER}/") and name.endswith((".sql", ".yml", ".py"))


def _is_yaml(name: str) -> bool:
    is_of_dbt = name.startswith(f"{DBT_FOLDER}/") and name.endswith(".yml")
    return is_of_dbt or name == CONTRACT_FILE


def _models(names: Collection[str]) -> set[str]:
    """Return the models that the files of a folder build, by name."""
    models = f"{DBT_FOLDER}/models/"
    return {
        PurePosixPath(name).stem
        for name in names
        if name.startswith(models) and name.endswith(".sql")
    }


def _homeless_before(folder: Path) -> JsonObject:
    path = folder / HOMELESS_FILE
    return plain_yaml(read_text(path, _MOST_BYTES))[1] if path.is_file() else {}


def _homeless_text(folder: Path, before: JsonObject, after: JsonObject) -> str:
    if not before:
        return _HOMELESS_HEAD + block_yaml(after)
    return edited_yaml(read_text(folder / HOMELESS_FILE, _MOST_BYTES), after, identity)


def _joined(cut_outs: Sequence[object]) -> JsonObject:
    result: JsonObject = {}
    for cut_out in cut_outs:
        if isinstance(cut_out, dict):
            result = joined(result, cut_out)
    return result
