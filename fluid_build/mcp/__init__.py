"""The MCP server: what an assistant in an editor may ask about a workspace's data."""
