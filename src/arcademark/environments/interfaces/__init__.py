"""Interfaces of environments: Gymnasium (`single`, `vector`, both made by `gymnasium`), and any language (`serving`).

`batch` plays a vector's steps at once; `wire` defines the messages.
"""
