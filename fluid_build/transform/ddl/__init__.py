"""The physical schema: what a plan publishes, as CREATE TABLE statements."""
