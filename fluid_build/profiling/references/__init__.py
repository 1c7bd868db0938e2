"""References: which keys columns may refer to, how well all rows bear it out, and what it's worth.

``candidates`` proposes parents, by name first and by values only where no name convinces.
``probing`` looks a few values up, ``inclusion`` counts every row, ``features`` says what is known
of a pair, and ``scores`` what that is worth, in log odds. ``single_columns`` and ``composites``
join these steps; ``shared_roles`` pairs the members of a key with columns of one role.
"""
