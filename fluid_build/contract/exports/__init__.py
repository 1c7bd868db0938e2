"""A contract in the open formats (ODCS, Data Contract Specification, OSI), and back from ODCS.

A format is one ``ExportFormat`` (``format``), and the commands are made from these records
(``formats``). ``tracking`` remembers what a writer took, and so lists what a format can't say.
"""
