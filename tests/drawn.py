"""Checks of drawn figures."""

import itertools

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from arcademark.pages.figures import files


def boxes(made):
    """Return the visible texts of a figure with their boxes, in pixels of its files."""
    made.set_dpi(files.DOTS_PER_INCH)
    FigureCanvasAgg(made)
    made.draw_without_rendering()
    found = (text for text in made.findobj(Text) if text.get_visible() and text.get_text().strip())
    return [(text.get_text(), text.get_window_extent()) for text in found]


def check_texts(made):
    """Check that no text is cut off, and none over another; lines of a title may touch."""
    texts = boxes(made)
    for text, box in texts:
        assert box.x0 > -1, text
        assert box.y0 > -1, text
        assert box.x1 < made.bbox.width + 1, text
        assert box.y1 < made.bbox.height + 1, text
    for (one, a), (other, b) in itertools.combinations(texts, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        up = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert across < 0.5 or up < 2, (one, other)
    return [text for text, _ in texts]
