"""Agents: the session they share, agents of one call, and composite agents.

``composite`` is the one engine, whose steps are state; a function step is an agent's own work whose
outcome is messages. ``agent`` is an agent with tools on it: ``ask`` is a turn of the model, and
``call_tools`` runs its calls. What is left to do is read from the conversation, so that a run that
was stopped anywhere resumes there.
"""
