"""Calls of models: a module for each wire format, and a client that sends.

A folder for each format is pure translation. A provider's own parts of an answer (thinking,
reasoning, signatures) are blocks with a position, written back unchanged in the same format only. A
stream is assembled into the ordinary answer and parsed there. ``prepared_calls``, ``attempts`` and
``stream_attempts`` hold the protocol without the network; ``client`` drives them, blocking and
asynchronous. ``openai`` chooses between OpenAI's two APIs by model and host. ``testing`` is the
other side: a server with every format, in the providers' own words, and a scripted model.
"""
