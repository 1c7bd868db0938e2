"""A contract in the open formats (ODCS, Data Contract Specification, OSI), and back from ODCS."""
