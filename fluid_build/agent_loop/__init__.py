"""The agent loop: a model that works with tools on a user's data, and these tools.

``loop`` runs an ``Agent`` with the tools of ``builtin_tools``; its answer is a source, a technique
and decisions, which ``fluid forge`` then measures. ``source_tools``, ``contract_tools`` and
``memory_tools`` have the tools: names, types and figures, never values. ``workspace`` resolves each
path that a model names and refuses what is outside, too large or of another type, before anything
is opened. ``prompt`` has a line for each tool, and ``staged_tool`` the tool that
``FLUID_FORGE_STAGED_TOOL_LOOP=1`` adds.
"""
