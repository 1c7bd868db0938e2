"""From a file to a contract: parsed with the place of everything in it, and validated."""
