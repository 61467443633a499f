"""Reads text from pixels: a picture in, lines of words with their places and confidence out; knows no format and no artifact."""
