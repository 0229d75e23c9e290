"""Readers of logs of single runs, one module per tool; `base` names, orders and averages them."""
