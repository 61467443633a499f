"""Pure rules and the use cases over ports; no engine, no wire format, no server."""
