"""Tools over the Model Context Protocol: those of other programs, and ours for them.

A connection has a thread and an event loop of its own, and everything that a server says is checked
and bounded. Needs the extra ``mcp``: version 2.3 or later of the official SDK.
"""

from fluid_build.extras import needs_extra

with needs_extra("mcp", "MCP"):
    import mcp as _sdk  # noqa: F401
