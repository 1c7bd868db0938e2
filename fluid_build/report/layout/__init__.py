"""Where the boxes of a diagram go and how its edges run: geometry, and nothing else."""
