"""The view on a terminal: screens of the profile, the model and the proof, and what prints them.

``summary_screen`` is for sources of more than 25 tables and ``source_screen`` for the others;
``findings_section`` has what needs attention. ``printing`` wraps: ``whole()`` keeps a path or a
command in one piece, ``wrapping`` gives a long word a line of its own, and ``unbroken_grid`` lets a
table that is too wide go on below each row. ``visible_text`` escapes a stranger's names and values.
"""
