"""How data come in: validation, moments, files, engines, fields and tables."""
