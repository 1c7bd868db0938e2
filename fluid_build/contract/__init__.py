"""The data contract: its types, its validator, and how it is read and written.

``fluid`` has the types, ``validation`` the verdict on a document. ``write`` puts the relations that
are built under contract, and ``read`` parses a file. ``exports`` writes it in other formats,
``live`` asks live data, and ``differences`` compares two versions. A contract promises the columns,
types and rules of what is built, and those are the plan's; so this room is above ``transform``.
"""
