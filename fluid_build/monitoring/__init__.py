"""Whether a source behaves as it did: its figures night by night, and what is unusual in them.

``figures`` are what is kept of a source each night, without a value of a row. ``usual`` says what a
figure is expected to be after those before it, by robust statistics, and ``alarms`` holds a night
against it, figure by figure. ``history`` keeps the nights in the store, and ``status`` says in a
few lines how a folder is doing.
"""
