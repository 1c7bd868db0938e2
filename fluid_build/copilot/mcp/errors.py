"""What goes wrong with a server of the Model Context Protocol."""

from fluid_build.copilot.errors import AgentExecutionError


class McpError(AgentExecutionError):
    """A failure of an MCP server, or of the connection to it."""


class McpConnectionError(McpError):
    """A server can't be started or reached, or its connection has ended."""


class McpToolError(McpError):
    """A call that the server's tool reported as failed."""


class McpResultTooLargeError(McpError):
    """A result that is over the connection's limit."""
