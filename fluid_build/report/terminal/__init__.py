"""The view on a terminal: screens of the profile, the model and the proof, and what prints them."""
