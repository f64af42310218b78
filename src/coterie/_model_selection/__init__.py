"""Which tolerance, and how far the groups depend on the rows."""
