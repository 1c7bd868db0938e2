"""Reading: the options of sources, and what is asked before one is opened."""
