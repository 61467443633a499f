"""One module per format, pure functions from bytes to an artifact; a format never imports another, a server or the file system."""
