"""Decisions: what a person or a model says about the data, in one typed language.

``language`` has the kinds. ``nodes`` reads YAML with places and bounds, ``files`` turns entries
into typed decisions or every problem at once, ``editing`` writes evidence and entries into a
person's text without touching the rest, and ``subjects`` says which decisions are about the same.
``weighing`` says what becomes of each one: a ``Verdict`` (``verdicts``) with a sentence, figures
and the query. ``model_decisions`` hands those that the profile doesn't hold to the modelling.
``renames`` has the earlier names that decisions give to tables and columns of the source,
``deliveries`` the tables of which it has only a part at a time.
``reasons`` has the sentence that says who decided, and ``commands`` writes a decision as the
``fluid decide`` line that makes it.
"""
