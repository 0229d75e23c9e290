"""Readers of logs of single runs, one module a tool; `base` names, orders and averages them."""
