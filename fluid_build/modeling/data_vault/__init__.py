"""The Data Vault 2.0 technique: every source table in hubs, links and satellites.

``placements`` says where each table goes, on ``entity_evidence``, ``subtypes``,
``reference_lists`` and ``relating``; ``table_names`` has the vocabulary. ``business_keys`` says
which key a hub is built on (``known_keys``: alternate keys, names, versions and wholes),
``hub_references`` how rows reach hubs. ``links``, ``satellites`` and ``builder`` describe the
relations, and ``vault_names`` names all. ``decided`` has what people and agents said.

Several sources: ``source_overlaps`` judges what an overlap says, and ``same_as_links`` links rows
that an attribute matches.

``business_vault`` adds what ``--business-vault`` asks for to a finished vault
(``business_elements``): ``bridge_chains`` finds the chains of links, ``business_queries`` writes
the queries with and without it. It depends on the vault's model alone.
"""
