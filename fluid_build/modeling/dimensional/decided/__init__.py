"""What people and agents decided about a star: the roles it can carry, and what isn't followed."""
