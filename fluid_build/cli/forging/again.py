"""The command line that forges a folder again, from its forge.json."""

from itertools import chain
from pathlib import Path
from typing import cast

from fluid_build.cli.invocation import fluid, path_from_here
from fluid_build.cli.next_steps import Step
from fluid_build.cli.reading.source_options import named_uri
from fluid_build.errors import UsageError
from fluid_build.forging.recorded import given_name, recorded_options
from fluid_build.modeling.logical import LogicalModel
from fluid_build.sources.addresses.kinds import DDL, IN_MEMORY, KINDS, CatalogKind, RemoteKind
from fluid_build.sources.options import ReadOptions
from fluid_build.stated_options import stated_options, stated_values, with_values, words
from fluid_build.transform.proof.manifest import Manifest, ManifestSource, place_of

_PLACEHOLDER = "SOURCE"


def forge_again(folder: Path, manifest: Manifest, model: LogicalModel) -> Step:
    """Return what forges a folder again as it was forged, with the decisions in it."""
    if manifest.source.kind == IN_MEMORY.name:
        return Step("", f"Forge the data again in Python, with out={str(folder)!r}.")
    parts = manifest.source.parts or {"": manifest.source}
    is_ddl = manifest.source.kind == DDL.name
    places = {name: _place(source, folder) for name, source in parts.items()}
    kinds = [KINDS[source.kind] for source in parts.values()]
    # A catalog's address names its credential, and needs no password.
    has_server = any(
        isinstance(kind, RemoteKind) and not isinstance(kind, CatalogKind) for kind in kinds
    )
    sources = (
        ("from-ddl", places[""])
        if is_ddl
        else ("from-source", *chain(*(("--uri", named_uri(*pair)) for pair in places.items())))
    )
    remarks = [
        *(["add the password"] if has_server else []),
        *(["say where the source is"] if _PLACEHOLDER in places.values() else []),
    ]
    remark = f" ({'; '.join(remarks)})" if remarks else ""
    options = [*words(_read(parts)), *words(recorded_options(manifest, model))]
    if (name := given_name(model.name, manifest, places)) is not None:
        options += ["--name", name]
    command = fluid("forge", "data-model", *sources, *options, "-o", str(folder))
    return Step(command, f"forge again with the decisions{remark}")


def _place(source: ManifestSource, folder: Path) -> str:
    """Return where a source is, from here where that's a file."""
    try:
        place = place_of(source, folder)
    except UsageError:
        return _PLACEHOLDER
    if isinstance(KINDS[source.kind], RemoteKind):
        return place
    return path_from_here(place)


def _read(parts: dict[str, ManifestSource]) -> ReadOptions:
    """Return how the sources were read; the options of one command are the same for all of them."""
    asked: dict[str, object] = {}
    for option in stated_options(ReadOptions):
        values = [stated_values(source.read)[option.keyword] for source in parts.values()]
        if option.default == ():
            globs = chain.from_iterable(cast("list[tuple[str, ...]]", values))
            asked[option.keyword] = tuple(dict.fromkeys(globs))
        else:
            others = (value for value in values if value != option.default)
            asked[option.keyword] = next(others, option.default)
    return with_values(ReadOptions, asked)
