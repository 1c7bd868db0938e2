"""What an assistant may do with a user's data, whichever door it comes through.

``agent_loop`` lets a model explore a folder, ``serving`` an assistant in an editor. Both offer
the tools of ``tools``, which work at a ``desk``: in a ``workspace`` whose paths are confined, on
``open_sources`` that are measured once, with texts that are bounded and without values of rows.
"""
