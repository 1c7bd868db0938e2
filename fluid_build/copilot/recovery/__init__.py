"""What is done about a failure: try again, recover, fall back, or say so."""
