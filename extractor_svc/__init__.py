"""Bytes in, one artifact out: formats, the children that run them, and the service around them; nothing here stores a file."""
