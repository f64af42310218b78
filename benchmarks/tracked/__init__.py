"""The jobs of benchmarks/suite.py at smaller sizes, for asv, which times them at each commit."""
