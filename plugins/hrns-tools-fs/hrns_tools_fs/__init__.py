"""The bundled tools of hrns: read, list, search, write, edit, run, fetch."""
