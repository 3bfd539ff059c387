"""hrns: a small, fast, pluggable harness for tool-using AI agents.

The names below are loaded when they are first used, so that `import hrns` costs nothing.
"""
