"""Renderers: each shows every document of `arcademark.pages.render.blocks`."""
