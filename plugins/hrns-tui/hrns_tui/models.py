"""Choosing a model of a provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hrns.config import Config, ProviderConfig, edit_config, set_model
from hrns.errors import ConfigError, ProviderError
from hrns.plugins import Plugins
from hrns.providers.base import ModelInfo
from hrns.session import build_provider

from .dialogue import Dialogue, meant, numbered

__all__ = ["ask_model", "missing_model"]


def ask_model(
    dialogue: Dialogue, label: str, models: Sequence[ModelInfo], default: str = ""
) -> str | None:
    """The name of a model; None if the person would rather not.

    Any name will do, since not every server lists all that it has.

    Parameters:
        default: what an empty line stands for; if it is "", the first model there is.
    """
    names = [model.id for model in models]
    if names:
        dialogue.say("\n".join(["Its models:", *numbered([(name, "") for name in names])]))
    while True:
        given = dialogue.ask(label, default=default or next(iter(names), ""))
        if given is None:
            return None
        if name := meant(given, names) or ("" if given.isdigit() else given):
            return name
        dialogue.error("a model has to be named, by number or by name")


def missing_model(
    dialogue: Dialogue,
    config: Config,
    plugins: Plugins,
    entry: ProviderConfig,
    environ: Mapping[str, str],
) -> tuple[str, Config] | None:
    """The model for a provider whose entry names none, and the configuration as it is then.

    It is that of `HRNS_MODEL`, else one that the person names, which is saved as the default of
    the provider. None if they would rather not.

    Raises:
        ConfigError: the provider cannot be used.
    """
    if named := environ.get("HRNS_MODEL", "").strip():
        return named, config
    dialogue.say(f"No model is named for provider {entry.name}.")
    models: Sequence[ModelInfo] = ()
    try:
        models = build_provider(plugins, entry, environ).models()
    except ProviderError as error:
        dialogue.error(f"its models could not be listed: {error}")
    model = ask_model(dialogue, "Model", models)
    if model is None:
        return None
    if entry.name in config.providers:
        try:
            config = edit_config(config.path, set_model(entry.name, model))
        except ConfigError as error:
            dialogue.error(str(error))
    return model, config
