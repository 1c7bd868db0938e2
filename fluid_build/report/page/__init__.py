"""The page: one HTML file with the data, the model, the evidence and the run."""
