"""The configuration: `~/.config/hrns/config.json`, read into frozen values and saved with care.

`values` says what there is, `read` makes it from a file, `choose` says which provider is meant.
"""

from __future__ import annotations

from .choose import (
    DEMO,
    ENVIRONMENT_PROVIDERS,
    EnvironmentProvider,
    choose_provider,
    find_provider,
)
from .read import config_from, config_path, load_config, read_document
from .values import (
    Config,
    LimitsConfig,
    ModelConfig,
    PermissionsConfig,
    PluginsConfig,
    ProviderConfig,
    WebFetchConfig,
    looks_secret,
    resolve_reference,
)

__all__ = [
    "DEMO",
    "ENVIRONMENT_PROVIDERS",
    "Config",
    "EnvironmentProvider",
    "LimitsConfig",
    "ModelConfig",
    "PermissionsConfig",
    "PluginsConfig",
    "ProviderConfig",
    "WebFetchConfig",
    "choose_provider",
    "config_from",
    "config_path",
    "find_provider",
    "load_config",
    "looks_secret",
    "read_document",
    "resolve_reference",
]
