"""Where the boxes of a diagram go and how its edges run: geometry, and nothing else.

It knows sizes and points, not tables; the same graph has the same drawing. A connected part goes
through columns (parents left, none much too high), slots (a trunk has one in each column that it
passes), order (barycentres from several starts, then sifting), heights (isotonic regression) and
tracks in the channels between columns. Links to the same point share a trunk unless parting saves
crossings. Parts of more than 80 boxes are drawn in areas: schemas, or boxes with many links to each
other. docs/dependencies.md says why no package does it.
"""
