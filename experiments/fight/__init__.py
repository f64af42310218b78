"""The comparison on data that nobody tuned on: sets, splits, methods, models, results, page."""
