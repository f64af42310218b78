"""Engines (Dask, Spark) that compute moments and aggregates where the rows are stored."""

from coterie._data.engines._engine import Carried, Counting, Engine, engine_of

__all__ = ["Carried", "Counting", "Engine", "engine_of"]
