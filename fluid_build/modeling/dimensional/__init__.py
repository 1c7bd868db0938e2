"""The dimensional technique: facts and dimensions, chosen by references, measures and rows.

Rules: Ralph Kimball and Margy Ross, "The Data Warehouse Toolkit", third edition.

``judging`` tells events from dimensions, and which dates get a calendar key. ``star_layout`` and
``dimensions`` decide which lookups are collapsed, which columns are versioned and which bridges
there are; ``facts`` decides grain, type and the date of the event. ``calendars`` turns a fiscal
start and a locale into settings that the model keeps, and describes the days of services, a fact
without an entity of its own. ``decided`` applies decided roles as far as a star can carry them, and
says what the finished star doesn't show.
"""
