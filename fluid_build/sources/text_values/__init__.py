"""Text values: what a text may be read as, without losing what it says.

``text_classes`` sorts values by their form, ``conventions`` settles what fits two (1.234,
01/02/2024), ``exact_numbers`` finds the type that keeps every digit, and ``canonical_text`` the one
spelling by which a value and its text are compared. ``encodings`` reads bytes as text, and
``personal_text`` decides for every single value, and every engine's message, whether it may be
shown.
"""
