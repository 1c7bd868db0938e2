"""The command line: thin commands over the rooms below.

Nothing is imported here, so that ``fluid --help`` costs no more than the help itself.

``main`` is the tree of commands and the ways in which they end. Every command ends there: an error
becomes two sentences and a code (``failures``), a bug is reported as ours, and no traceback is
shown without ``--debug``. ``interrupts`` raises ``KeyboardInterrupt`` once on a signal. A database
engine may be deep in a call that ignores signals, so a second thread waits 0.6 s for an orderly
end, then removes the temporary folder and ends the process.

``messages`` prints progress, questions and JSON; ``invocation`` and ``next_steps`` print commands
that can be pasted. ``source_options`` and ``source_session`` check and open a source.
``forged_screen``, ``verify_screen`` and ``folder_edits`` put the screens of a command together.
``contract_formats`` makes ``fluid export`` and ``fluid import`` of the formats' records.

Every forge goes through ``forge_runs``, which records the run and ends it; ``stage_lines``,
``receipt_screen`` and ``forged_report`` show it. ``guided`` proposes what ``nearby_sources`` finds,
``agent_forge`` forges what an agent proposes, and ``forge_again`` writes the command that forges a
folder again. ``decide`` and ``review`` write decisions through ``recording`` and
``review_answers``; ``decision_targets`` looks up names.

A forged folder may be a stranger's. ``consent`` asks before the folder's server, far files or dbt
code are used, and what it shows (``sources.server_address``) is exactly what is then connected to.
"""
