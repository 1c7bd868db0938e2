"""Keys: which columns may be part of one, which hold by accident, and which is primary."""
