"""Where batches come from: files, streams and arrays become moments, chunk by chunk."""

from coterie._data.sources._moments_from import moments_from

__all__ = ["moments_from"]
