"""The tool `weather`, and the data behind it, which is made up."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum
from typing import Annotated

from hrns import tool
from hrns.errors import ToolFailure

MOST_DAYS = 7


class Unit(Enum):
    """A unit of temperature."""

    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


@dataclass(frozen=True)
class Day:
    """The weather of one day; the temperatures are in the unit that was asked for."""

    day: int
    sky: str
    low: int
    high: int


@dataclass(frozen=True)
class Forecast:
    """What the model gets, as JSON. The note keeps it from telling fiction as fact."""

    city: str
    unit: str
    days: list[Day]
    note: str = "This weather is made up. Say so when you tell it."


# It touches nothing outside this process, so it declares no effects and may run in every mode.
# One that asked a real service would declare effects=["network"], and users could be asked first.
@tool(effects=(), parallel_safe=True)
def weather(
    city: Annotated[str, "the city, in any language"],
    days: Annotated[int, f"how many days from today, {MOST_DAYS} at most"] = 1,
    unit: Annotated[Unit, "of the temperatures"] = Unit.CELSIUS,
) -> Forecast:
    """Tell the weather of a city. A demonstration: the weather is made up, not measured."""
    if not 1 <= days <= MOST_DAYS:
        raise ToolFailure(f"days must be between 1 and {MOST_DAYS}, not {days}")
    made_up = [_make_up(city, day, unit) for day in range(1, days + 1)]
    return Forecast(city, unit.value, made_up)


def _make_up(city: str, day: int, unit: Unit) -> Day:
    """Some weather, the same for the same city and day."""
    dice = random.Random(f"{city.casefold()} {day}")  # noqa: S311 - it is only weather
    low = dice.randint(-5, 20)
    high = low + dice.randint(2, 12)
    sky = dice.choice(["sunny", "cloudy", "rain", "snow" if low < 0 else "showers"])
    return Day(day, sky, _in(unit, low), _in(unit, high))


def _in(unit: Unit, celsius: int) -> int:
    return celsius if unit is Unit.CELSIUS else round(celsius * 9 / 5 + 32)
