"""The configuration file ``~/.fluid/config.yaml``, which replaces several older ones.

A setting comes from the first place that has it: flags, environment, the file, the legacy files
(``ai_config.json``, ``sources.yaml``, ``prices.json``), defaults. Source: Agentic Primitives,
"Unified config".
"""

from fluid_build.copilot.unified_config.layers import CONFIG_NAME, HOME_VARIABLE, fluid_home
from fluid_build.copilot.unified_config.schema import (
    ENVIRONMENT,
    BehaviorConfig,
    ConfigError,
    LlmSettings,
    PricesConfig,
    SourcesConfig,
    UnifiedConfig,
)
from fluid_build.copilot.unified_config.settings import (
    Origin,
    Setting,
    credential_settings,
    current_config,
    last_valid_config,
    list_settings,
    load_unified_config,
    use_flags,
)
from fluid_build.copilot.unified_config.writing import (
    ConfigChange,
    Migration,
    migrate_legacy_to_unified,
    set_setting,
)

__all__ = [
    "CONFIG_NAME",
    "ENVIRONMENT",
    "HOME_VARIABLE",
    "BehaviorConfig",
    "ConfigChange",
    "ConfigError",
    "LlmSettings",
    "Migration",
    "Origin",
    "PricesConfig",
    "Setting",
    "SourcesConfig",
    "UnifiedConfig",
    "credential_settings",
    "current_config",
    "fluid_home",
    "last_valid_config",
    "list_settings",
    "load_unified_config",
    "migrate_legacy_to_unified",
    "set_setting",
    "use_flags",
]
