"""Names: what the words of tables and columns say. What is learnt of a name is learnt once.

``words`` takes one name apart, ``vocabulary``, ``lexicons`` and ``concepts`` know words of any
domain. ``habits`` is what the names of a schema share, ``parsing`` finds its entities,
``similarity`` says how alike words are, and ``key_names`` which key a name means.
"""
