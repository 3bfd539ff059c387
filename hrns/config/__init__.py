"""The configuration: `~/.config/hrns/config.json`, read into frozen values and saved with care.

`values` says what there is, `read` makes it from a file (`syntax` says where it is off), `choose`
says which provider is meant, `save` makes `changes` (`keys` leads to single values), and `project`
adds what a project may say.
"""

from __future__ import annotations

from .changes import (
    add_rule,
    put_provider,
    remove_provider,
    set_current_agent,
    set_current_provider,
    set_model,
)
from .choose import (
    DEMO,
    ENVIRONMENT_PROVIDERS,
    EnvironmentProvider,
    choose_provider,
    find_provider,
    known_providers,
)
from .keys import (
    KeyPath,
    get_value,
    parse_key_path,
    set_value,
    spell_key_path,
    unset_value,
)
from .project import ProjectConfig, load_project_config, merge, project_config_path
from .read import SETTER, config_from, config_path, home_directory, load_config, read_document
from .save import Change, edit_config
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
    "SETTER",
    "Change",
    "Config",
    "EnvironmentProvider",
    "KeyPath",
    "LimitsConfig",
    "ModelConfig",
    "PermissionsConfig",
    "PluginsConfig",
    "ProjectConfig",
    "ProviderConfig",
    "WebFetchConfig",
    "add_rule",
    "choose_provider",
    "config_from",
    "config_path",
    "edit_config",
    "find_provider",
    "get_value",
    "home_directory",
    "known_providers",
    "load_config",
    "load_project_config",
    "looks_secret",
    "merge",
    "parse_key_path",
    "project_config_path",
    "put_provider",
    "read_document",
    "remove_provider",
    "resolve_reference",
    "set_current_agent",
    "set_current_provider",
    "set_model",
    "set_value",
    "spell_key_path",
    "unset_value",
]
