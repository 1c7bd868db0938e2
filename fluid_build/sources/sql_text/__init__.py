"""SQL text: structure declared in DDL, and dumps with rows. No statement is ever run."""
