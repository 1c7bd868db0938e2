"""The transform plan: what a model is built of, for each technique."""
