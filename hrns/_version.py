"""The version of every distribution in this repository: they are released together."""

__version__ = "0.1.0"
