"""What an expert would draw for a database, and how close a model comes to it."""
