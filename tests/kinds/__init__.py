"""Each kind of source, past its reading: profiled, forged, proven."""
