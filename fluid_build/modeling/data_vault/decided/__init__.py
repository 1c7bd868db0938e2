"""What people and agents decided about a vault: how it changes placements, and what isn't followed.

``placements`` and ``keys`` put decided roles, keys, merges and splits into the placements of all
tables, as far as a vault can carry them (``role_obstacles``), and ``unfollowed`` says of a finished
vault which decisions it doesn't follow, and why. References are first completed through link tables
and to what no table lists (``references_through_links``, ``unlisted_entities``); ``shared_hubs``
groups the tables of several sources that share a hub.
"""
