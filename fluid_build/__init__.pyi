"""The types of what the package offers: the names of the API, and two modules."""

from fluid_build import api as api
from fluid_build import errors as errors
from fluid_build.api import *  # noqa: F403  Its list of names is the list.

__version__: str
