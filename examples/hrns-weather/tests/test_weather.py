"""The tool, called by a scripted model through the loop that it will run in."""

from __future__ import annotations

import json
from typing import Any

import pytest

import hrns_weather
from hrns import Loop, ToolMessage, ToolResult, UserMessage
from hrns.testing import Call, Say, ScriptedProvider


def called(**arguments: Any) -> ToolResult:
    """What the model gets for a call with these arguments."""
    provider = ScriptedProvider([Call("weather", arguments), Say("So it is.")])
    list(Loop(provider, hrns_weather.hrns_tools()).run([UserMessage("How is the weather?")]))
    message = provider.requests[1].messages[-1]
    assert isinstance(message, ToolMessage)
    (result,) = message.results
    return result


def test_forecast_says_that_it_is_made_up() -> None:
    result = called(city="Oslo")
    assert result.status == "ok"
    forecast = json.loads(result.text)
    assert (forecast["city"], forecast["unit"], len(forecast["days"])) == ("Oslo", "celsius", 1)
    assert "made up" in forecast["note"]


def test_weather_of_a_city_is_the_same_every_time() -> None:
    assert called(city="Oslo", days=7) == called(city="Oslo", days=7)
    assert called(city="Oslo", days=7).text != called(city="Lima", days=7).text


def test_temperatures_come_in_the_unit_that_was_asked_for() -> None:
    (celsius,) = json.loads(called(city="Oslo").text)["days"]
    (fahrenheit,) = json.loads(called(city="Oslo", unit="fahrenheit").text)["days"]
    assert fahrenheit["low"] == round(celsius["low"] * 9 / 5 + 32)
    assert fahrenheit["sky"] == celsius["sky"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "city"),
        ({"city": "Oslo", "days": 8}, "between 1 and 7"),
        ({"city": "Oslo", "days": "many"}, "days"),
        ({"city": "Oslo", "unit": "kelvin"}, "celsius"),
    ],
)
def test_model_is_told_what_is_wrong_with_its_arguments(
    arguments: dict[str, Any], says: str
) -> None:
    result = called(**arguments)
    assert result.status == "error"
    assert says in result.text


def test_model_sees_what_it_may_say() -> None:
    (tool,) = hrns_weather.hrns_tools()
    assert tool.schema["required"] == ["city"]
    assert tool.schema["properties"]["unit"] == {
        "enum": ["celsius", "fahrenheit"],
        "type": "string",
        "description": "of the temperatures",
        "default": "celsius",
    }
    assert tool.effects == frozenset()
