"""Speaking to models: one module a wire format, one client that sends."""
