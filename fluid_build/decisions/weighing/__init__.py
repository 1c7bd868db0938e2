"""Decisions weighed on the data, and the profile with those that apply."""

from fluid_build.decisions.weighing.amending import amended
from fluid_build.decisions.weighing.weigh import weigh

__all__ = ["amended", "weigh"]
