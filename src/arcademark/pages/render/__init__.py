"""Renderers: each shows every document that is made of `arcademark.pages.render.blocks`."""
