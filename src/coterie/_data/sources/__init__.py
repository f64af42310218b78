"""Moments of files, streams and arrays, read in chunks."""

from coterie._data.sources._moments_from import moments_from

__all__ = ["moments_from"]
