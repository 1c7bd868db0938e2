"""The documents of forged folders as resources: ``fluid://workspace/FOLDER/MODEL.md``.

Only the files that are named here are served. They are read with a bound, and without the values
of rows unless the user shares these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import quote, unquote

from fluid_build.assistants.desk import Desk
from fluid_build.assistants.masking import contract_without_values, prose_without_values
from fluid_build.copilot.errors import FileTooLargeError, ForbiddenPathError, PathTraversalError
from fluid_build.copilot.tools.confinement import read_confined
from fluid_build.decisions.files import DECISIONS_FILE
from fluid_build.errors import SourceNotFoundError, SourceUnreadableError, UsageError
from fluid_build.forging import CONTRACT_FILE, DOCUMENT_FILE
from fluid_build.text import listed
from fluid_build.transform.proof.manifest import MANIFEST_FILE

_SCHEME = "fluid://workspace/"
_MOST_LISTED = 1_000
_MOST_BYTES = 16 * 1024 * 1024
_MOST_CHARACTERS = 400_000
"""Of a document that is handed on: some 100,000 tokens, half of a large model's window."""


@dataclass(frozen=True, slots=True)
class ResourceFile:
    """A file of a forged folder that is served."""

    name: str
    title: str
    description: str
    mime_type: str


FILES: Mapping[str, ResourceFile] = {
    file.name: file
    for file in (
        ResourceFile(
            DOCUMENT_FILE,
            "Data model",
            "Tables, keys, relationships and what needs attention, each with its evidence.",
            "text/markdown",
        ),
        ResourceFile(
            CONTRACT_FILE, "Data contract", "The data contract, FLUID 0.7.2.", "application/yaml"
        ),
        ResourceFile(
            DECISIONS_FILE,
            "Decisions",
            "What a person or an assistant decided about the model.",
            "application/yaml",
        ),
    )
}
"""The files that are served, by name."""


@dataclass(frozen=True, slots=True)
class FolderResource:
    """A document of a forged folder, to be listed."""

    uri: str
    folder: str
    file: ResourceFile
    size: int


def resource_uri(folder: str, file: str) -> str:
    """Return the URI of a file of a folder of the workspace."""
    return f"{_SCHEME}{quote(file if folder == '.' else f'{folder}/{file}')}"


def uri_template(file: ResourceFile) -> str:
    """Return the template of the URIs of a file, in any folder."""
    return f"{_SCHEME}{{+folder}}/{file.name}"


def list_documents(desk: Desk) -> list[FolderResource]:
    """Return the documents of all forged folders of the workspace."""
    root = desk.workspace.root
    documents = []
    for folder in islice(desk.workspace.forged_folders(), _MOST_LISTED):
        shown = desk.workspace.shown(folder)
        for name, file in FILES.items():
            path = folder / name
            if path.is_file() and path.resolve().is_relative_to(root):
                size = path.stat().st_size
                documents.append(FolderResource(resource_uri(shown, name), shown, file, size))
    return documents


def read_document(desk: Desk, uri: str) -> tuple[str, str]:
    """Return a document and its MIME type.

    Raises UsageError for what isn't one of ours, SourceNotFoundError where it isn't there, and
    SourceUnreadableError where it's too large or isn't text.
    """
    path = unquote(uri.removeprefix(_SCHEME))
    file = FILES.get(Path(path).name)
    if not uri.startswith(_SCHEME) or file is None:
        raise UsageError(
            "This isn't a resource of Fluid Forge.",
            hint=f"Resources are {_SCHEME}FOLDER/FILE, where FILE is {listed(FILES, 'or')}.",
        )
    text = _read(desk, path)
    if not desk.settings.share_values:
        is_contract = Path(path).name == CONTRACT_FILE
        text = contract_without_values(text, path) if is_contract else prose_without_values(text)
    return _cut(desk.settings.without_outside(text)), file.mime_type


def _read(desk: Desk, path: str) -> str:
    root = desk.workspace.root
    try:
        folder = (root / path).parent
        if not (folder / MANIFEST_FILE).is_file():
            raise FileNotFoundError
        suffixes = {Path(name).suffix for name in FILES}
        return read_confined(root, path, suffixes=suffixes, max_bytes=_MOST_BYTES).decode()
    except (PathTraversalError, ForbiddenPathError, ValueError):
        raise UsageError(
            "The path is outside of the workspace.", hint="List the resources to see what there is."
        ) from None
    except FileTooLargeError:
        raise SourceUnreadableError(
            f"{path} is larger than {_MOST_BYTES // 1024 // 1024} MB.",
            hint="A forge never writes a document that large. Forge the folder again.",
        ) from None
    except OSError:
        raise SourceNotFoundError(
            f"{path} isn't in a folder that a forge wrote.",
            hint="List the resources to see what there is.",
        ) from None


def _cut(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    left = len(text) - _MOST_CHARACTERS
    return f"{text[:_MOST_CHARACTERS]}\n\n# Cut here: {left:,} more characters are in the file.\n"
