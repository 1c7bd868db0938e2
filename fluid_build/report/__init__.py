"""One view of what is known about a source, and the renderers that show it.

``view`` gathers it once: what to look at first (``notices``), tables with their keys,
relationships, the elements of the model with reason and origin (``model_elements``), the proof. The
renderers only lay it out: ``markdown_document``, ``terminal``, ``profile_json``, ``page``.
``profile.json`` holds all of a ``Profile``, so that the page can be made again; its first two keys
are what ``fluid profile --json`` prints.
"""
