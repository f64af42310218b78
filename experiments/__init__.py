"""The paper's tables and figures made again, and a fair comparison with other methods."""
