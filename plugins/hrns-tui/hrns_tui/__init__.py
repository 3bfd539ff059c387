"""The terminal UI of hrns."""
