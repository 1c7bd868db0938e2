"""The HTTP client, or an error that names what to install."""

from __future__ import annotations

from fluid_build.extras import needs_extra

with needs_extra("llm", "Calling a model"):
    import httpx as httpx
    import stamina as stamina  # the envelope's; it comes with the same extra
