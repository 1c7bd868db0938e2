"""What a run is asked to do, as data: a command's sources and options, without passwords."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from fluid_build.errors import UsageError
from fluid_build.forging import ForgeOptions
from fluid_build.secrets import redact, without_passwords
from fluid_build.sources.addresses.kinds import KINDS, RemoteKind
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.options import READ_ALL, ReadOptions
from fluid_build.sources.uri import Address


class SourcePlace(BaseModel):
    """A source by its address, which has no password, and its options."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    place: str
    has_password: bool = False
    name: str = ""
    read: ReadOptions = READ_ALL

    @classmethod
    def of(cls, request: SourceRequest) -> Self:
        """Return the place of a source as a command requested it."""
        address = request.address
        bare = _without_password(address)
        return cls(
            kind=address.kind.name,
            place=bare,
            has_password=bare != address.place,
            name=request.name,
            read=request.read,
        )

    def request(self, typed: Address | None = None) -> SourceRequest:
        """Return the request again, with the address as it was ``typed`` if it was.

        Raises UsageError for the address of another source.
        """
        address = typed or Address(KINDS[self.kind], self.place)
        if _without_password(address) != self.place:
            raise UsageError(
                f"The run reads {redact(self.place)}, not {redact(address.place)}.",
                hint="Pass the same address, with its password.",
            )
        return SourceRequest(address, self.name, self.read)


class ModelUse(BaseModel):
    """Whether and how a run uses a language model; None means what is configured.

    Where ``is_settled``, the configuration of the process doesn't count any more.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    provider: str | None = None
    model: str | None = None
    endpoint: str | None = None
    tiered: bool = False
    no_cache: bool = False
    deterministic: bool = False
    is_required: bool = False
    share_samples: bool = False
    is_settled: bool = False


class ForgeRequest(BaseModel):
    """Everything that a forge depends on but the data, the configuration and the code.

    ``folder`` is the current folder of the command: relative paths start there. ``goal`` is what
    the product is for, in the user's words. ``configured_limit`` is the cost limit of the
    configuration when the run began; it holds where a process that resumes it has none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    command: Literal["from-source", "from-ddl", "from-intent"]
    folder: Path
    sources: tuple[SourcePlace, ...]
    name: str | None = None
    options: ForgeOptions
    out: Path
    overwrite: bool = False
    is_preview: bool = False
    model_use: ModelUse = ModelUse()
    max_cost: Decimal | None = None
    configured_limit: Decimal | None = None
    goal: str = ""


def _without_password(address: Address) -> str:
    return (
        without_passwords(address.place) if isinstance(address.kind, RemoteKind) else address.place
    )
