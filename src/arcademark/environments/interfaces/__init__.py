"""Our environments for others: Gymnasium (`single`, `vector`, both made by `gymnasium`), and any language (`serving`).

`batch` plays a vector's steps at once; `wire` has the messages.
"""
