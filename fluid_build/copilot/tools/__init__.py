"""Tools that models may call: declaration, dispatch, confinement and traces."""
