"""How rows behave: figures that modelling decisions rest on, and that a profile doesn't need."""
