"""The staged pipeline: agents that improve a forge's model, on the composite engine.

``coordinator`` is a composite agent whose steps are the stages; it holds their order and what a
repair repeats, and calls the functions of ``forging.stages``. docs/runtime.md lists the stages.

A step's outcome is small JSON. Large values (profile, observations, verdicts, proof) are in
``values``, saved with the run. What follows from them (model, plan, contract, files) is derived
again after a restart (``derived``), so a resumed run makes the same bytes. ``sessions`` saves
what stages have told each other.

``running`` starts and resumes runs: it refuses another version, a changed source and a run that
another process owns, and saves the cost after each call. ``runs`` has the records, ``requests``
what was asked (without passwords), ``receipt`` and ``receipts`` the receipt, ``stages`` the events
of a stage, ``memory`` what later runs may find. ``proposing`` joins the logical stage to the run,
and ``dry_run`` shows the same questions without asking. ``evaluation`` says what models add to
forges of databases whose truth is known.

``fluid_build.copilot.agents.critic_agent`` and its five neighbours are the documented import paths:
a few lines each that hand on this room's names, and the only modules of ``copilot`` that import
from above.
"""
