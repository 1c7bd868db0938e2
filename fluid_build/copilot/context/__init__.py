"""What fits a model's window, and what is left out when not all does."""
