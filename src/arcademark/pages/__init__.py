"""Documents: `presenter` makes blocks of a result and its template; renderers write any document.

``templates`` holds a template for each kind of document, and the leaderboard's pages. ``figures``: figure models and
their drawing. ``render``: blocks as terminal text, HTML, LaTeX and Markdown, and results as JSON.
"""
