"""What a forge made, or would make."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fluid_build.contract.fluid import FluidContract
from fluid_build.decisions.verdicts import Verdict
from fluid_build.forging.project_edits import NO_EDITS, KeptEdits, is_built
from fluid_build.modeling.basis import Basis
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.profile import Profile
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.proof.folder_changes import FileChange
from fluid_build.transform.proof.proof import Proof


@dataclass(frozen=True, slots=True)
class Forged:
    """What was generated. ``files`` are the paths that were written, sorted, if any were.

    ``kept`` are files in the same folder that were left alone, because somebody edited or added
    them. ``edits`` are those to the YAML of the dbt project, which were merged with what was
    generated. ``verdicts`` say what became of each decision, in their order. ``basis`` is what the
    model was designed from.
    """

    profile: Profile
    model: LogicalModel
    plan: TransformPlan
    contract: FluidContract
    proof: Proof
    files: tuple[Path, ...] = ()
    kept: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    edits: KeptEdits = NO_EDITS
    basis: Basis = field(kw_only=True)

    @property
    def outdated(self) -> tuple[str, ...]:
        """Return the kept files by which dbt builds something else than the model, by name."""
        return tuple(
            change.name for change in self.kept if change.outdated and is_built(change.name)
        )


@dataclass(frozen=True, slots=True)
class Preview:
    """What ``forge`` would do to its folder.

    ``differences`` are unified diffs, by file name, of the files that would be replaced or that
    somebody edited.
    """

    forged: Forged
    changes: tuple[FileChange, ...]
    differences: Mapping[str, tuple[str, ...]]
