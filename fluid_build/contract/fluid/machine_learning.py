"""Models that the product trains or serves."""

from typing import Literal

from fluid_build.contract.fluid.common import Maybe, Number, SemVer, TaggedModel


class ModelValidation(TaggedModel):
    """How a model is judged."""

    metrics: Maybe[list[str]] = None
    thresholds: Maybe[dict[str, Number]] = None


class MlModel(TaggedModel):
    """A model, what it learns from and what it predicts."""

    name: str
    version: SemVer
    type: Literal["classification", "regression", "clustering", "recommendation", "other"]
    algorithm: Maybe[str] = None
    features: Maybe[list[str]] = None
    target: Maybe[str] = None
    validation: Maybe[ModelValidation] = None


class MachineLearning(TaggedModel):
    """The models of the product."""

    enabled: Maybe[bool] = None
    framework: Maybe[Literal["mlflow", "kubeflow", "sagemaker", "vertex_ai", "custom"]] = None
    models: Maybe[list[MlModel]] = None
