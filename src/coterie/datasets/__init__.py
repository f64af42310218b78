"""Synthetic datasets with known groups, and one real dataset."""

from coterie.datasets._problems import (
    Trial,
    load_tecator,
    make_groups,
    make_paper_data,
    paper_trial,
)

__all__ = ["Trial", "load_tecator", "make_groups", "make_paper_data", "paper_trial"]
