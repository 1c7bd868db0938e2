"""The proof that nothing was lost, and the files that go with it."""
