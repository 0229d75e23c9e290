"""Analyses of scores: `analysis` of one table (result in `report`), `compare` of algorithms (`comparison`)."""
