"""Families of distributions for the target, and link functions."""

from coterie.families._family import Family
from coterie.families._known import FAMILIES, NUMBERED_FAMILIES, dispersion_of, negative_binomial
from coterie.families._links import LINKS, Link

__all__ = [
    "FAMILIES",
    "LINKS",
    "NUMBERED_FAMILIES",
    "Family",
    "Link",
    "dispersion_of",
    "negative_binomial",
]
