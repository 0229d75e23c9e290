"""Readers of scores, in stages; each package imports only those before it.

* `words`: meaning of names and numbers as people write them.
* `sheets`: from a file's content to named columns of cells.
* `tables`: from columns, whose roles are found, to scores.
* `logs`: from tools' logs of single runs to scores.
* `formats` recognises a file, and passes it to the reader of its format.
"""
