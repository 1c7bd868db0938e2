"""``forge.json``: what a folder was forged from and how, so that it can be repeated and verified.

It has no password, no time and no absolute path: the source is named by its path from the folder.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, ValidationError, create_model, model_validator

from fluid_build import __version__
from fluid_build.artifacts import Content
from fluid_build.errors import (
    SourceNotFoundError,
    SourceUnreadableError,
    UsageError,
)
from fluid_build.modeling.element import ModelPart
from fluid_build.modeling.logical import LogicalModel, Technique
from fluid_build.regular_files import open_regular, read_regular
from fluid_build.secrets import surely_without_passwords
from fluid_build.sources.addresses.kinds import COMBINED, IN_MEMORY, KINDS, Kind, RemoteKind
from fluid_build.sources.grouping import Grouping, OneTable
from fluid_build.sources.options import READ_ALL, ReadOptions
from fluid_build.sources.uri import Address, path_from
from fluid_build.stated_options import (
    StatedOption,
    stated_options,
    stated_values,
    with_values,
)
from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.plan.project_tools import ProjectTool
from fluid_build.transform.proof.written_proof import PROOF_FILE

MANIFEST_FILE = "forge.json"
GENERATOR = f"fluid-forge {__version__}"

_MOST_BYTES = 16 * 1024 * 1024
"""Far more than a manifest takes, which has one short line for each file of the folder."""


class _Place(ModelPart):
    kind: Kind
    location: str | None = None
    # Always written, as by the first version, which had no other option.
    schemas: tuple[str, ...] = ()


def _entry(option: StatedOption) -> tuple[object, None]:
    """Return an option as a field of a manifest, which leaves out what is as by default."""
    if option.default == ():
        return tuple[str, ...] | None, None
    return (Literal[True] if option.default is False else option.type) | None, None


if TYPE_CHECKING:
    _ReadPlace = _Place
else:
    _ReadPlace = create_model(
        "_ReadPlace",
        __base__=_Place,
        **{
            option.keyword: _entry(option)
            for option in stated_options(ReadOptions)
            if option.keyword not in _Place.model_fields
        },
    )


class ManifestSource(_ReadPlace):
    """Where the data is.

    ``location`` is a path or glob relative to the folder, with ``/``, or a server's connection
    string without a password. None where that isn't possible (data in memory, another drive on
    Windows, a password that can't be separated from the rest). The fields after it are what was
    asked of the reading, the options that ``ReadOptions`` states. ``nested`` is None where the
    source has nothing to split, and in a manifest of a version that kept nested columns. ``parts``
    are the sources by name where several are combined, each with its own location. ``one_table``
    has the parts of tables that decisions make one, and ``separate`` those that they take apart.
    """

    one_table: dict[str, tuple[str, ...]] | None = None
    separate: tuple[str, ...] | None = None
    parts: "dict[str, ManifestSource] | None" = None

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        parts = self.parts or {}
        if (self.kind == COMBINED.name) != bool(parts) or any(p.parts for p in parts.values()):
            raise ValueError("Only several sources have parts, and none of these has parts itself.")
        return self

    @property
    def read(self) -> ReadOptions:
        """How the source was read."""
        unsaid = {"nested": "keep"} if "nested" in KINDS[self.kind].options else {}
        said = {
            option.keyword: value
            for option in stated_options(ReadOptions)
            if (value := getattr(self, option.keyword)) is not None
        }
        one_table = (self.one_table or {}).items()
        grouping = Grouping(tuple(OneTable(*each) for each in one_table), self.separate or ())
        return replace(with_values(ReadOptions, unsaid | said), grouping=grouping)


class Manifest(ModelPart):
    """What was forged. ``files`` has the SHA-256 of every file that the forge wrote.

    The proof is left out, because every verification rewrites it. Where somebody's edits were kept,
    the digest is of the file that the forge would have written. ``foreign`` names the files that
    were there before any forge and were left alone. ``outdated`` has the digests of kept files that
    were edited for an earlier structure: such a file is outdated until somebody edits it again.
    ``project`` is what the project is written for where that isn't dbt.
    """

    version: Literal[1] = 1
    generator: str = GENERATOR
    technique: Technique
    variant: str | None = None
    business_vault: Literal[True] | None = None
    target: Target = "duckdb"
    project: Literal["sqlmesh"] | None = None
    source: ManifestSource
    files: dict[str, str] = Field(default_factory=dict)
    foreign: tuple[str, ...] = ()
    outdated: dict[str, str] | None = None


def manifest_source(
    address: Address,
    folder: Path,
    read: ReadOptions = READ_ALL,
) -> ManifestSource:
    """Return the source at an address, and how it's read, as the manifest of a folder has it."""
    values = stated_values(read)
    entries = {
        option.keyword: values[option.keyword]
        for option in stated_options(ReadOptions)
        if values[option.keyword] != option.default
    }
    entries["nested"] = read.nested if "nested" in address.kind.options else None
    entries["one_table"] = {one.name: one.parts for one in read.grouping.one_table} or None
    entries["separate"] = read.grouping.separate or None
    place = {"kind": address.kind.name, "location": _location(address, folder)}
    return ManifestSource.model_validate(place | entries)


def _location(address: Address, folder: Path) -> str | None:
    if address.kind is IN_MEMORY:
        return None
    if isinstance(address.kind, RemoteKind):
        return surely_without_passwords(address.place)
    return path_from(folder, Path(address.place))


def combined_source(parts: Mapping[str, ManifestSource]) -> ManifestSource:
    """Return several sources, by name, as one."""
    return ManifestSource(kind=COMBINED.name, location=None, parts=dict(parts))


def manifest_json(
    model: LogicalModel,
    source: ManifestSource,
    files: Mapping[str, Content],
    *,
    target: Target = "duckdb",
    tool: ProjectTool = "dbt",
    foreign: Sequence[str] = (),
    outdated: Mapping[str, Path] | None = None,
) -> str:
    """``forge.json`` of a model and of the files that are written with it.

    ``outdated`` are the kept files that were edited for an earlier structure, as they are.
    """
    manifest = Manifest(
        technique=model.technique,
        variant=model.dimensional.variant if model.dimensional is not None else None,
        business_vault=True if model.dv2 and model.dv2.business_vault else None,
        target=target,
        project=None if tool == "dbt" else tool,
        source=source,
        files={name: digest(files[name]) for name in sorted(files) if name != PROOF_FILE},
        foreign=tuple(sorted(foreign)),
        outdated={name: digest(path) for name, path in (outdated or {}).items()} or None,
    )
    return manifest.model_dump_json(indent=2, exclude_none=True) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder.

    Raises SourceNotFoundError where the folder or its manifest is missing, SourceUnreadableError
    where a forge wouldn't write it.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "doesn't exist"
        raise SourceNotFoundError(
            f"The folder '{folder}' {what}.", hint="Pass the folder that `fluid forge` wrote."
        )
    text = read_text(folder / MANIFEST_FILE, _MOST_BYTES)
    try:
        return Manifest.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise not_as_written(folder / MANIFEST_FILE, error) from None


def place_of(source: ManifestSource, folder: Path) -> str:
    """Return the path or connection string of a folder's source; raise UsageError without one."""
    if source.kind == IN_MEMORY.name:
        raise UsageError(
            f"{folder} was generated from data in memory, which no location leads to.",
            hint="Verify it in Python, with the data again: fluid_build.verify(folder, source=…).",
        )
    if source.location is None:
        raise UsageError(
            f"{folder / MANIFEST_FILE} doesn't say where the source is.",
            hint="Pass its location with --uri.",
        )
    if isinstance(KINDS[source.kind], RemoteKind):
        return source.location
    return os.path.normpath(Path(os.path.realpath(folder)) / source.location)


def digest(content: Content) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    if isinstance(content, Path):
        with open_regular(content) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def read_text(path: Path, most_bytes: int) -> str:
    """Return the text of a file of a forge; errors say what the user can do."""
    try:
        return read_regular(
            path,
            most_bytes,
            too_large="`fluid forge` never writes a file that large. Run `fluid forge` again.",
        ).decode()
    except (FileNotFoundError, NotADirectoryError):
        raise SourceNotFoundError(
            f"The folder '{path.parent}' has no {path.name}.",
            hint="Pass a folder that `fluid forge` wrote, or run `fluid forge` again.",
        ) from None
    except UnicodeDecodeError:
        raise SourceUnreadableError(
            f"{path} isn't UTF-8 text.", hint="Run `fluid forge` again."
        ) from None
    except OSError as error:
        raise SourceUnreadableError(
            f"{path} can't be read: {error.strerror or type(error).__name__}.",
            hint="Check that it's a file and that you have permission to read it.",
        ) from None


def not_as_written(path: Path, error: ValidationError) -> SourceUnreadableError:
    """Return the error for a file that somebody edited, or that another version wrote."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    where = f" at {place}" if place else ""
    return SourceUnreadableError(
        f"{path} isn't as `fluid forge` writes it{where}: {first['msg']}.",
        hint="It was edited, or written by another version of Fluid Forge."
        " Run `fluid forge` again.",
    )
