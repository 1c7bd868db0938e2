"""The main road: all stages of a forge, one after another, and the folder that they fill.

Nothing is written before the contract has passed the validator, and then everything is written at
once. The page is made of the written folder.
"""

from collections.abc import Set
from pathlib import Path
from typing import Unpack

from fluid_build.forging.design_file import earlier_basis
from fluid_build.forging.documents import contract_faults, refuse_invalid
from fluid_build.forging.folder import Outputs, preview_folder, write_folder
from fluid_build.forging.options import ForgeOptions, ForgeSettings
from fluid_build.forging.report_file import report_change, with_report, write_report
from fluid_build.forging.results import Forged, Preview
from fluid_build.forging.stages import (
    Designed,
    decide,
    design,
    look_closer,
    measure,
    prove,
    report_stage,
    write_contract,
)
from fluid_build.forging.undelivered import with_undelivered
from fluid_build.profiling.profile import Profile
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource


def forge(
    source: Source,
    *,
    out: Path | None = None,
    overwrite: bool = False,
    measured: Profile | None = None,
    taken_versions: Set[str] = frozenset(),
    on_progress: OnProgress = ignore,
    **settings: Unpack[ForgeSettings],
) -> Forged:
    """Profile a source, model it, build it, prove it, and write everything to ``out``.

    ``measured`` is the source's profile, for a caller that has measured it already, and
    ``taken_versions`` are versions that the contract had, and was taken back from.
    ``settings`` are the fields of ``ForgeOptions``. A source that ``open_source`` didn't open has
    no address: it gets no dbt project, and ``fluid verify`` needs --uri. Files in ``out`` that
    were edited or added since are kept unless ``overwrite`` is set. Raises UsageError as
    ``ForgeOptions`` does, SourceError where the source can't be read or has no readable table,
    BuildFailedError where the model doesn't build, OutputError where ``out`` can't be written. The
    bytes of the files depend on the source, the options, and the path from ``out`` to the source.
    Those of the page depend on how ``out`` is named as well.
    A model that loses something is written too, and its proof says so.
    """
    options = ForgeOptions(**settings)
    forged = _forged(source, options, out, on_progress, measured)
    if out is None:
        return forged
    return write_forged(
        source,
        forged,
        options,
        out,
        overwrite=overwrite,
        taken_versions=taken_versions,
        on_progress=on_progress,
    )


def write_forged(
    source: Source,
    forged: Forged,
    options: ForgeOptions,
    out: Path,
    *,
    overwrite: bool = False,
    taken_versions: Set[str] = frozenset(),
    on_progress: OnProgress = ignore,
) -> Forged:
    """Write to ``out`` what was forged of a source with the same options.

    The source must be open, and as it was then: the dbt project is checked on it, and may need
    copies of its tables. Raises OutputError where ``out`` can't be written.
    """
    outputs = _outputs(
        source,
        forged,
        options,
        out,
        on_progress,
        overwrite=overwrite,
        taken_versions=taken_versions,
    )
    report_stage(on_progress, "write")
    filed = write_folder(outputs, forged.proof)
    change = report_change(out, overwrite=overwrite)
    write_report(filed, out, change)
    return with_report(filed, out, change)


def preview(
    source: Source,
    options: ForgeOptions,
    *,
    out: Path,
    overwrite: bool = False,
    on_progress: OnProgress = ignore,
) -> Preview:
    """Do all that ``forge`` does except writing, and return what it would change in ``out``.

    The errors are the same.
    """
    forged = _forged(source, options, out, on_progress)
    outputs = _outputs(source, forged, options, out, on_progress, overwrite=overwrite)
    return preview_folder(outputs, forged.proof)


def _forged(
    source: Source,
    options: ForgeOptions,
    out: Path | None,
    on_progress: OnProgress,
    measured: Profile | None = None,
) -> Forged:
    if isinstance(source, CombinedSource):
        options.check_several()
    # A damaged file, or another choice of tables, is said before anything is measured.
    earlier = None if out is None else earlier_basis(out, source, options.redesign)
    with_undelivered(source, out, options.decisions)
    profile = measured or measure(source, on_progress)
    decided = decide(source, profile, options)
    observations = look_closer(source, decided.profile, on_progress)
    report_stage(on_progress, "model")
    designed = design(decided, observations, options, earlier)
    proof = prove(source, designed, options, on_progress)
    report_stage(on_progress, "contract")
    contract = write_contract(designed, options)
    return Forged(
        designed.profile,
        designed.model,
        designed.plan,
        contract,
        proof,
        notes=designed.notes,
        verdicts=designed.verdicts,
        basis=designed.basis,
    )


def _outputs(
    source: Source,
    forged: Forged,
    options: ForgeOptions,
    out: Path,
    on_progress: OnProgress,
    *,
    overwrite: bool,
    taken_versions: Set[str] = frozenset(),
) -> Outputs:
    refuse_invalid(contract_faults(forged.contract))
    report_stage(on_progress, "project")
    designed = Designed(
        forged.model,
        forged.plan,
        forged.profile,
        forged.basis,
        forged.verdicts,
        forged.notes,
    )
    return Outputs(source, options, out, designed, forged.contract, overwrite, taken_versions)
