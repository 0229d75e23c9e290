"""Renderers: each shows every document that is made of `arcademark.reports.render.blocks`."""
