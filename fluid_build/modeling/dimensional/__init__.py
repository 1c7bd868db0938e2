"""The dimensional technique: facts and dimensions, chosen by references, measures and rows.

Rules: Ralph Kimball and Margy Ross, "The Data Warehouse Toolkit", third edition.

``event_rules`` and ``entity_roles`` tell events from dimensions, ``dimension_choice`` and
``star_layout`` decide which lookups are collapsed, ``left_out`` which tables are totals.
``date_roles`` decides which dates get a calendar key, ``event_date_choice`` which one dates the
event, ``fact_types`` the type of fact. ``dimensions``, ``facts``, ``bridges`` and ``snapshots``
(levels that the source overwrites) describe the relations, ``scd_types`` says which columns are
versioned. ``calendar_settings`` turns a fiscal start and a locale into settings that the model
keeps; ``service_days`` describes the days of services, a fact without an entity of its own.

``decided_roles`` applies decided roles and merges as far as a star can carry them, ``merges`` adds
the reference that a merge needs, and ``decided`` says what the finished star doesn't show.
"""
