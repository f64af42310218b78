"""Rows that lie elsewhere: other engines count them where they are, and transform them there."""

from coterie._data.engines._engine import Carried, Counting, Engine, engine_of

__all__ = ["Carried", "Counting", "Engine", "engine_of"]
