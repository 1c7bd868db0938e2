"""``fluid eval``: what language models add to forges of databases whose truth is known."""
