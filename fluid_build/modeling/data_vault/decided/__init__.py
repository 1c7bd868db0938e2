"""What people and agents decided about a vault: how it changes placements, and what isn't followed.

``placements`` puts decided roles, keys, merges and splits into the placements of all tables, as far
as a vault can carry them, and ``unfollowed`` says of a finished vault which decisions it doesn't
follow, and why.
"""
