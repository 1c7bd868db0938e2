"""The dimensional technique: its builds, and how they are compared with the source.

``dimensions`` and ``facts`` make the builds, and ``rebuilds`` the way back. Snapshots are built
before the calendar, which has their days; each load keeps the days before and replaces its own.
``hierarchies`` pairs members with those above them, and checks the pairs against the source.
``service_days`` lists the days of services in SQL, and checks their number by arithmetic.
"""
