"""Choice of the tolerance by cross-validation, and stability of groups under resampling."""
