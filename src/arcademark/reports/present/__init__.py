"""Presenters: each makes the document of one analysis, of the blocks of `arcademark.reports.blocks`."""
