"""Recovery from failures: the retry envelope, and strategies by category of error."""
