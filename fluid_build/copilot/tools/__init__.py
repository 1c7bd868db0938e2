"""Tools that models may call: declaration, dispatch, confinement and traces.

``signatures`` makes a model from a function, ``definition`` has the kinds of tools, ``execution``
checks, runs and records a call, ``dispatch`` looks tools up, and ``toolbox`` limits an agent to its
own. ``otel`` turns timed operations into spans and metrics, and is the only module that imports
OpenTelemetry.
"""
