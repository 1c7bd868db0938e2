"""What language models add to forges: databases whose truth is known, forged with and without.

``truth`` is what is known, from a ``truth.json`` or from a person's decisions. ``judging`` compares
a forge with it, claim by claim. ``evaluating`` forges each database with each model, and
``results`` says what every model gained and lost against the forge without one.
"""
