"""The artifact as a value, shared by the service that makes it and the one that stores it; no parser, no engine, no server."""
