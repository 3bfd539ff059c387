"""Providers: who answers a `ModelRequest` with deltas, and the codecs that some are made of."""

__all__: list[str] = []
