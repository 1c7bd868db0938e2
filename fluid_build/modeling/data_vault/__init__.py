"""The Data Vault 2.0 technique: every source table in hubs, links and satellites.

First the references are completed, through link tables, to wholes of parts, and to what no table
lists (``references_through_links``, ``observed_references``, ``unlisted_entities``). ``placements``
then says where each table goes, on ``entity_evidence``, ``subtypes``, ``reference_lists`` and
``relating``; ``table_names`` has the vocabulary. ``business_keys`` says which key a hub is built on
(``known_keys``: alternate keys, names, versions and wholes), ``hub_references`` how rows reach
hubs. ``links``, ``satellites`` and ``builder`` describe the relations, ``rates_of_change`` says
which columns change fast, and ``vault_names`` names all.

Decisions: ``decided_placements`` and ``decided_keys`` place tables and keys, ``role_obstacles``
says what a vault can't carry, and ``split_entities`` splits entities off. ``decided`` says what the
finished vault doesn't show.

Several sources: ``source_overlaps`` judges what an overlap says, ``shared_hubs`` groups the tables
that share a hub, ``same_as_links`` links rows that an attribute matches, ``foreign_references``
leads rows to another source's hub.

``business_vault`` adds what ``--business-vault`` asks for to a finished vault
(``business_elements``): ``bridge_chains`` finds the chains of links, ``business_queries`` writes
the queries with and without it. It depends on the vault's model alone.
"""
