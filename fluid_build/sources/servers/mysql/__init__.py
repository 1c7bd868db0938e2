"""MySQL and MariaDB databases as sources."""
