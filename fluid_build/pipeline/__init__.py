"""The staged pipeline: agents that improve a forge's model, on the composite engine."""
