"""Choosing: keys and references of the whole schema together, until neither changes.

``selection`` alternates between the two. ``reference_choice`` takes at most one parent a column,
``implied`` marks what follows from others, ``declared`` keeps what is declared and checks it, and
``unchosen`` keeps what was judged and not believed, as questions. ``calibration`` says how sure.
"""
