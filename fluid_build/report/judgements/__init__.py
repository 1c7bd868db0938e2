"""The open judgement calls about a model: what was chosen, and what else could be."""
