"""What is different in one environment (development, staging, production …)."""

from fluid_build.contract.fluid.binding import Binding
from fluid_build.contract.fluid.common import ClosedModel, Identifier, Maybe, TaggedModel
from fluid_build.contract.fluid.quality import ExposeQoS


class EnvironmentOwner(ClosedModel):
    """Who answers for the product in this environment."""

    team: Maybe[str] = None
    email: Maybe[str] = None
    slack: Maybe[str] = None


class EnvironmentMetadata(TaggedModel):
    """What is different in the product's metadata."""

    owner: Maybe[EnvironmentOwner] = None


class EnvironmentExpose(TaggedModel):
    """What is different of one exposed thing."""

    expose_id: Maybe[Identifier] = None
    binding: Maybe[Binding] = None
    qos: Maybe[ExposeQoS] = None


class EnvironmentConfig(TaggedModel):
    """Everything that is different in one environment."""

    metadata: Maybe[EnvironmentMetadata] = None
    exposes: Maybe[list[EnvironmentExpose]] = None
