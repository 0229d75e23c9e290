"""rliable's interface on this package's statistics: `library`, `metrics` and `plot_utils` with its names and shapes.

``from arcademark.rliable import library as rly, metrics, plot_utils`` replaces the same import from rliable 1.2. Scores
have rliable's shape (runs, tasks, …), not (…, tasks, runs) as elsewhere in this package. docs/rliable.md lists the
differences.
"""

from arcademark.rliable import library, metrics, plot_utils

__all__ = ["library", "metrics", "plot_utils"]
