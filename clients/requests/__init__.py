"""The calls of the SDK, one function each: arguments in, a `Call` out. Both clients bind these, so each is written once."""
