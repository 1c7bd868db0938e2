"""The logical stage: a model reviews the draft of a forge, and answers decisions."""
