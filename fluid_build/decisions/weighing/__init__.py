"""Decisions weighed on the data, and the profile with those that apply.

In the order of ``weigh``: names are looked up (``names``), decisions that others overrule are
dropped (``overruled``), and what is left is counted on every row (``keys``, ``references``,
``readings``, ``entities``; ``columns`` takes figures of the profile). ``amending`` puts those that
apply into the profile.
"""

from fluid_build.decisions.weighing.amending import amended
from fluid_build.decisions.weighing.weigh import weigh

__all__ = ["amended", "weigh"]
