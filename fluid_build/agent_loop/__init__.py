"""The agent loop: a model that works with tools on a user's data.

``loop`` runs an ``Agent`` with the tools of ``builtin_tools``; its answer is a source, a technique
and decisions, which ``fluid forge`` then measures. Those that any assistant has are declared there,
``source_tools`` and ``contract_tools`` have the others. ``confinement`` says in a tool's answer why
something was refused. The prompt in ``loop`` has a line for each tool, and ``staged_tool`` has the
tool that ``FLUID_FORGE_STAGED_TOOL_LOOP=1`` adds.
"""
