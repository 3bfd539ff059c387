"""Choosing a model of a provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hrns.config import ProviderConfig
from hrns.errors import ProviderError
from hrns.plugins import Plugins
from hrns.providers.base import ModelInfo
from hrns.session import build_provider

from .dialogue import Dialogue, meant, numbered

__all__ = ["ask_model", "default_model"]


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


def default_model(
    dialogue: Dialogue, plugins: Plugins, entry: ProviderConfig, environ: Mapping[str, str]
) -> str | None:
    """The model for a provider whose entry names none; None if the person would rather not.

    It is that of `HRNS_MODEL`, else one that the person names.

    Raises:
        ConfigError: the provider cannot be used.
    """
    if named := environ.get("HRNS_MODEL", "").strip():
        return named
    dialogue.say(f"No model is named for provider {entry.name}.")
    models: Sequence[ModelInfo] = ()
    try:
        models = build_provider(plugins, entry, environ).models()
    except ProviderError as error:
        dialogue.error(f"its models could not be listed: {error}")
    return ask_model(dialogue, "Model", models)
