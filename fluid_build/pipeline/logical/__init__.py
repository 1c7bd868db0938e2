"""The logical stage: a model reviews the draft of a forge, and answers decisions.

``compact_profile`` tells a model the draft in names and figures, in as much detail as ``chunks``
has room for. ``questions`` makes a question for each chunk and model, and ``asking`` asks them in
parallel and handles the failures of single ones. ``proposals`` reads the answers entry by entry as
decisions. ``improving`` has them judged and sends what is refused back once.
"""
