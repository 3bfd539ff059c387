"""Choosing a model of a provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hrns.config import Config, ProviderConfig, edit_config, set_model
from hrns.connecting import LISTING_S, list_models, within
from hrns.errors import ConfigError, ProviderError
from hrns.plugins import Plugins
from hrns.providers.base import ModelInfo
from hrns.session import build_provider

from .dialogue import Dialogue

__all__ = ["ask_model", "missing_model", "told_window"]

_ANOTHER = "(another)"


def told_window(model: ModelInfo) -> str:
    """What to say of how much a model takes in; "" if that is not known."""
    return f"{model.context_window} tokens" if model.context_window else ""


def ask_model(
    dialogue: Dialogue, title: str, models: Sequence[ModelInfo], default: str = ""
) -> str | None:
    """The name of a model; None if the person would rather not.

    It is picked from those that are listed, or named: not every server lists all that it has.

    Parameters:
        default: the model to begin with, or "" for the first that is listed.
    """
    if models:
        options = [(model.id, told_window(model)) for model in models]
        options.sort(key=lambda option: option[0] != default)
        chosen = dialogue.pick(title, [*options, (_ANOTHER, "a model that is not listed")])
        if chosen != _ANOTHER:
            return chosen
    while (name := dialogue.ask(title, default=default)) == "":
        dialogue.error("a model has to be named")
    return name


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
    provider = build_provider(plugins, entry, environ)
    models: Sequence[ModelInfo] = ()
    try:
        models = within(LISTING_S, lambda: list_models(provider))
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
