"""How groups are found: values, evidence, criteria, searches, and the fit."""
