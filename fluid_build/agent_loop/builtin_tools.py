"""The built-in tools, in the order in which a model reads about them."""

from fluid_build.agent_loop.contract_tools import (
    list_schedulers,
    list_templates,
    propose_contract,
    validate_contract,
)
from fluid_build.agent_loop.memory_tools import search_memory
from fluid_build.agent_loop.source_tools import (
    check_key,
    check_relationship,
    discover_workspace,
    profile_source,
    read_sample_schema,
)

BUILTIN_TOOLS = (
    discover_workspace,
    read_sample_schema,
    profile_source,
    check_key,
    check_relationship,
    search_memory,
    list_templates,
    list_schedulers,
    propose_contract,
    validate_contract,
)
"""They are in the registry too, as soon as this module is imported."""
