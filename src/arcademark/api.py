"""Python API of ``import arcademark``; each name is reachable as ``arcademark.NAME``.

The functions correspond to commands: ``arcademark.report("runs/dqn")`` to ``arcademark report runs/dqn``. Their results
can be shown in a notebook, or saved as a page, LaTeX, Markdown or JSON.
"""

from __future__ import annotations

import dataclasses
import html as escaping
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from arcademark.analysis.runs.learning import MAX_POINTS
from arcademark.analysis.scoring.analysis import analyse
from arcademark.analysis.scoring.compare import POWER_STATISTIC, compare_tables
from arcademark.analysis.scoring.comparison import Comparison
from arcademark.analysis.scoring.report import ScoreReport
from arcademark.analysis.subsets import predictors
from arcademark.analysis.subsets.dataset import normalised
from arcademark.analysis.subsets.predicting import Predicted, predicted
from arcademark.analysis.subsets.searching import Searched, SearchKeywords, SearchRequest, searched
from arcademark.analysis.tables.dataset import ScoreKeywords, ScoreOptions
from arcademark.analysis.tables.loading import ScoreSource, Sources, is_table, sequence
from arcademark.errors import ArcadeMarkError
from arcademark.files import check_ending, write_document
from arcademark.keywords import Names, knowing
from arcademark.metrics.sequential import SequentialPlan
from arcademark.metrics.training import CommonCurves
from arcademark.operations import until
from arcademark.operations.progress import NotebookBar
from arcademark.pages import files as saving
from arcademark.pages import presenter
from arcademark.pages.figures.style import FigureStyle, FontName, StyleName
from arcademark.pages.render import html, json, latex, markdown, terminal
from arcademark.pages.render.blocks import Document
from arcademark.pages.render.layout import Console
from arcademark.runs.plan import Plan as RunPlan
from arcademark.runs.playing.events import RunSummary
from arcademark.runs.request import DEFAULTS, Agent, RunOptions, request, words
from arcademark.subset.predict import files
from arcademark.suite.protocols import Protocol, rules_of
from arcademark.suite.subsets import LEVEL, resolve_tasks
from arcademark.suite.tasks import canonical_game

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas

WIDTH = 100  # columns of text that ``print`` shows


class Shown:
    """An analysis with methods to show it, as `report`, `compare`, `predict` and `search` return.

    Its numbers are the fields of the dataclass from which the subclass inherits.

    Examples
    --------
    >>> result = arcademark.report({"mine": {"pong": [18.9, 19.3]}})  # doctest: +SKIP
    >>> result.algorithms[0].summaries[0].median.value  # doctest: +SKIP
    >>> result.save("report.html")  # doctest: +SKIP
    >>> result.plot("standing.pdf")  # doctest: +SKIP
    """

    def document(self) -> Document:
        """Return the document, block by block."""
        return presenter.document(self)

    @classmethod
    def from_analysis(cls, analysis: Any) -> Self:
        """Return an instance with the fields of an analysis."""
        return cls(**{field.name: getattr(analysis, field.name) for field in dataclasses.fields(analysis)})

    def __str__(self) -> str:
        out = io.StringIO()
        terminal.render(self.document(), Console(file=out, width=WIDTH, color_system=None))
        return out.getvalue()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.document().title}>"

    def __dir__(self) -> list[str]:
        """Return the names of its fields and methods."""
        methods = {name for kind in (Shown, type(self)) for name in vars(kind) if not name.startswith("_")}
        return sorted(methods | {field.name for field in dataclasses.fields(self)})  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        """Return the page in a frame, for a notebook."""
        page = escaping.escape(self.to_html(), quote=True)
        return f'<iframe sandbox srcdoc="{page}" style="width: 100%; height: 40rem; border: 0"></iframe>'

    def to_html(self) -> str:
        """Return a whole HTML page that works offline."""
        return html.render(self.document())

    def to_latex(self) -> str:
        """Return the tables in LaTeX, for booktabs."""
        return latex.render(self.document(), everything=True)

    def to_markdown(self) -> str:
        """Return everything as Markdown."""
        return markdown.render(self.document(), everything=True)

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary of JSON values, valid under the schema that its "schema" names."""
        return json.render(self)

    @knowing()
    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the document, in the format of the file name's ending, as the command does.

        Parameters
        ----------
        file : path
            ``.html``, a page that works offline; ``.json``; ``.tex``, tables in LaTeX; ``.md``, Markdown; ``.csv``,
            the rows of ``to_pandas``; ``.svg``, ``.png`` or ``.pdf``, the page's first figure. An existing file is
            replaced only if ArcadeMark wrote it in the same format.

        Raises
        ------
        ArcadeMarkError
            If the name has another ending, another file exists there, or the file cannot be written.
        """
        saving.save(Path(file), self, self.document)

    @knowing()
    def plot(
        self,
        file: str | os.PathLike[str] | None = None,
        *,
        figure: str | None = None,
        style: StyleName = "screen",
        width_inches: float | None = None,
        font: FontName | None = None,
    ) -> matplotlib.figure.Figure:
        """Draw a figure of the page, and write it to a file if one is named.

        Parameters
        ----------
        file : path, optional
            File to write, ``.svg``, ``.png`` or ``.pdf``; an existing one is replaced as by `save`.
        figure : str, optional
            One of the figures on the page: for a report "standing", "summaries", "heat", "learning",
            "sample-efficiency" or "distribution" (of episodes); for a comparison "summaries", "differences",
            "improvement", "ranks", "sample-efficiency" or "profiles". By default the one with the file's name, else the
            page's first.
        style : {"screen", "paper"}, optional
            7.5 inches wide and sans serif, or 6.9 inches wide and with serifs.
        width_inches : float, optional
            Another width, from 2.75 to 20 inches; a paper's column has 3.3.
        font : {"sans", "serif"}, optional
            Another font than the style's.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which can be changed and saved. It shows at most the first five algorithms.

        Raises
        ------
        ArcadeMarkError
            If the page has no such figure, a setting is invalid, or the file cannot be written.
        """
        from arcademark.pages.figures import files as drawings  # slow to import

        check_ending(file, drawings.KINDS)
        looks, path = FigureStyle(style, width_inches, font), None if file is None else Path(file)
        name, drawn = saving.figure_of(self.document(), figure, path)
        if path is not None:
            saving.save(path, self, self.document, name, style=looks)
        return drawings.draw(drawn, looks.width, looks)


def _frame(rows: Sequence[Mapping[str, object]]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise ArcadeMarkError("pandas is not installed; install it, as in pip install pandas") from None
    return pandas.DataFrame(rows)


class Report(Shown, ScoreReport):
    """Result of `report` and `run`: the scores of algorithms, with methods to show them."""

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row per algorithm and game, with the score and the normalised scores in percent.

        Raises
        ------
        ArcadeMarkError
            If pandas is not installed.
        """
        return _frame(self.rows())

    @knowing()
    def curves(self, points: int = MAX_POINTS) -> dict[tuple[str, str], CommonCurves]:
        """Return the learning curves of each algorithm that learnt, on each game.

        A point is the mean score of consecutive training episodes, as in the page's figure; `report --figure
        learning --save FILE.csv` writes every episode.

        Parameters
        ----------
        points : int, optional
            Number of frames at which curves are evaluated, evenly spaced where all seeds have scores.

        Returns
        -------
        dict from (algorithm, game) to (frames, scores)
            Float arrays of shape (points,) and (seeds, points).
        """
        return {(curve.algorithm, curve.game): curve.common(points) for curve in self.learning}


class Compared(Shown, Comparison):
    """Result of `compare`: a comparison of algorithms, with methods to show it."""

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row per pair of algorithms and game, with the difference and its test.

        Raises
        ------
        ArcadeMarkError
            If pandas is not installed.
        """
        return _frame(self.rows())


class Predictions(Shown, Predicted):
    """Result of `predict`: predictions for algorithms, with methods to show them."""


class Subsets(Shown, Searched):
    """Result of `search`: the best subsets, with methods to show them."""


@knowing(RunOptions, DEFAULTS)
def run(
    agent: Agent | Sequence[Agent] = (),
    games: Names | None = None,
    protocol: str | Protocol | None = None,
    *,
    until_error: float | None = None,
    **options: Unpack[RunOptions],
) -> Report:
    """Play an agent and report its scores; an existing run in the directory is continued.

    A notebook shows a progress bar.

    Parameters
    ----------
    agent : str, AgentSpec, object or function, or a sequence of these
        A built-in agent, or your own: ``"my_agent.py:make_agent"``; an object with ``act``, ``plan`` or ``predict``, of
        which each trial plays a copy; a function from observation to action; or a class or function that makes an
        agent, called with the game as ``env``. An agent from Python has no file: it is played in this process, and its
        run can be continued only with the same name and source. With ``commands``, none is needed.
    games : str or sequence of str, optional
        A suite, a subset or games, ``"atari-57"``, ``["pong", "qbert"]``; by default those of the existing run, or for
        a new one "atari-5", or all tasks of ``suite``.
    protocol : str or Protocol, optional
        The environment's settings, "world-records" by default; see `protocol`.
    until_error : float, optional
        Play ``games``, then other games, the most informative first, until the 90 % interval of the median of all
        games extends to at most this share of the median, such as ``0.15``, or no game is left; `predict` of the run
        shows the interval.
    **options
        Fields of `arcademark.runs.request.RunOptions`: ``seeds``, ``episodes``, ``out``, …

    Raises
    ------
    ArcadeMarkError
        If a name is unknown, the directory contains another run, or a package is missing.

    Examples
    --------
    >>> arcademark.run("random", ["pong"], seeds=2, episodes=3)  # doctest: +SKIP
    >>> arcademark.run(lambda observation: 1, "pong", episodes=1, name="always 1")  # doctest: +SKIP
    """
    requested = request(agent, protocol, options)

    if options.get("slurm") is not None:
        if until_error is not None:
            raise ArcadeMarkError("slurm: leave out until_error, which plays in one process")
        requested.submit(requested.plan(games), words(agent, games, protocol, options))
        return report(requested.directory)
    with NotebookBar(requested.protocol.unit) as bar:

        def play(plan: RunPlan) -> RunSummary:
            summary = requested.play(plan, bar.hear)
            bar.close(summary)
            return summary

        if until_error is None:
            play(requested.of_shard(requested.plan(games)))
        else:
            first = () if games is None else resolve_tasks(",".join(games))
            until.InformativePlay(until_error, requested, first, play, lambda _: None).run()
    return report(requested.directory)


@knowing()
def suite_protocol(suite: str | os.PathLike[str], protocol: str | None = None, **overrides: object) -> Protocol:
    """Return the protocol of a suite of other tasks or of your own Atari games, for `run` and `make`.

    Parameters
    ----------
    suite : str or path
        A suite's file, the name of a suite in ArcadeMark, or ``"gymnasium:CartPole-v1,Acrobot-v1"``.
    protocol : str, optional
        Protocol for Atari games, "world-records" by default; suites of other tasks have their own.
    **overrides : object
        Settings to change, e.g. ``evaluation_episodes=10``.

    Raises
    ------
    ArcadeMarkError
        If there is no such suite, the file is not a suite, or a setting is unknown.

    Examples
    --------
    >>> arcademark.run("random", "all", arcademark.suite_protocol("gymnasium:CartPole-v1"))  # doctest: +SKIP
    """
    return rules_of(protocol, suite, overrides)


@knowing(ScoreKeywords, ScoreOptions)
def report(sources: Sources, **options: Unpack[ScoreKeywords]) -> Report:
    """Report scores: a verdict, all summaries and games, estimates for the whole benchmark, and warnings.

    Parameters
    ----------
    sources : path, ``"catalogue:review-2021"``, ScoreTable, mapping, DataFrame, or a sequence of these
        A run's directory or a file of scores; ``{"DQN": {"pong": [18.9, 19.3]}}``; or a DataFrame with the columns
        algorithm, game and score, and run if there are several.
    **options
        Fields of `arcademark.analysis.tables.dataset.ScoreOptions`: ``suite``, ``references``, ``algorithms``,
        ``games``, ``metrics``, ``protocol``, ``frames``, …

    Raises
    ------
    ArcadeMarkError
        If a source or name does not exist, or a file is malformed.

    Examples
    --------
    >>> arcademark.report("catalogue:review-2021", algorithms=["Rainbow"]).to_html()  # doctest: +SKIP
    """
    return Report.from_analysis(analyse(sources, **options))


@knowing(ScoreKeywords, ScoreOptions)
def compare(
    sources: Sources,
    *named: ScoreSource,
    plan: SequentialPlan | None = None,
    summary: str = POWER_STATISTIC,
    **options: Unpack[ScoreKeywords],
) -> Compared:
    """Compare algorithms: tests, intervals of differences, and the number of runs needed.

    Parameters
    ----------
    sources
        As in `report`.
    *named : str or source
        Algorithms, at least two, or all if none is named; and further sources: a run, an existing file or
        ``"catalogue:…"`` is not taken for an algorithm's name.
    plan : arcademark.metrics.sequential.SequentialPlan, optional
        Plan of a sequential test, which decides after each group of runs if more are needed.
    summary : str, optional
        Summary of each run's games that the sequential test compares.
    **options
        As in `report`.

    Raises
    ------
    ArcadeMarkError
        As in `report`, or if no two different algorithms have a game in common.

    Examples
    --------
    >>> arcademark.compare("runs/a", "runs/b").save("compare.html")  # doctest: +SKIP
    >>> arcademark.compare("catalogue:review-2021", "Rainbow", "Muesli").to_markdown()  # doctest: +SKIP
    """
    algorithms = tuple(item for item in named if isinstance(item, str) and not is_table(item))
    beside = [item for item in named if not (isinstance(item, str) and item in algorithms)]
    if algorithms:
        options["algorithms"] = algorithms
    places = [*sequence(sources), *beside] if beside else sources
    return Compared.from_analysis(compare_tables(places, ScoreOptions(**options), plan=plan, summary=summary))


@knowing()
def predict(
    sources: Sources,
    model: str = "any",
    *,
    games: Names | None = None,
    algorithms: Names | None = None,
    protocol: str | None = None,
    level: float = LEVEL,
    frames: str | os.PathLike[str] | Mapping[str, float] | None = None,
    training: Sources = (),
    references: str | os.PathLike[str] | None = None,
    papers: str | os.PathLike[str] | None = None,
    transform: Literal["log10", "none"] | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Predictions:
    """Predict the median of all games, and every game's score, from the games that were played.

    Parameters
    ----------
    sources
        As in `report`.
    model : str, optional
        "any", which uses whatever games have scores, a published model ("atari-5"), or a model file.
    games : str or sequence of str, optional
        Predict only from these games: a suite, a subset or games; from a subset, the median of its suite's games is
        predicted. By default, all games in the table.
    algorithms : str or sequence of str, optional
        Only these algorithms; all by default.
    protocol : str, optional
        Protocol of the scores, if the table does not name it.
    level : float, optional
        Confidence level of every interval.
    frames : path or mapping from game to number, optional
        Cost of playing each game: a CSV file with the columns game and frames; the same for all by default.
    training : optional
        Scores of other algorithms from which to learn, instead of Atari's published ones; requires the model "any".
    references : path, optional
        With ``training``, another benchmark's reference scores: a file with the columns task, low and high.
    papers : path, optional
        With ``training``, each algorithm's paper: a CSV file with the columns algorithm and paper.
    transform : {"log10", "none"}, optional
        With ``training``, transformation of scores, "log10" by default; "none" if all are between their references.
    reading : mapping, optional
        Options of `arcademark.scores.reading.read_tables`.

    Raises
    ------
    ArcadeMarkError
        As in `report`, or if no algorithm has the games of any model.

    Examples
    --------
    >>> arcademark.predict({"mine": {"pong": 19.3, "qbert": 12_000}})  # doctest: +SKIP
    """
    own = predictors.own(sequence(training), references, papers, transform)
    if frames is not None and model.lower() != "any":
        raise ArcadeMarkError("frames order the games to play next, which a model does not suggest; omit the model")
    if isinstance(frames, str | os.PathLike):
        frames = predictors.read_frames(Path(frames), own.canonical if own else canonical_game)
    return Predictions.from_analysis(
        predicted(
            sequence(sources),
            model,
            games=",".join(games or ()),
            algorithms=algorithms or (),
            protocol=protocol,
            level=level,
            frames=frames,
            training=own,
            reading=reading,
        )
    )


@knowing(SearchKeywords, SearchRequest)
def search(
    sources: Sources = "catalogue:atari-5-training",
    size: int | None = None,
    *,
    suite: str | None = None,
    references: str | os.PathLike[str] | None = None,
    algorithms: Names | None = None,
    out: str | os.PathLike[str] | None = None,
    **options: Unpack[SearchKeywords],
) -> Subsets:
    """Search for the few tasks that best predict a summary of all tasks, provably.

    Parameters
    ----------
    sources, suite, references, algorithms
        As in `report`.
    size : int, optional
        Number of tasks in the subset; 5 by default, unless there is a ``plan``.
    out : path, optional
        File for the best subset's model, a ``model`` for `predict`.
    **options
        Fields of `arcademark.analysis.subsets.searching.SearchRequest`: ``target``, ``include``, ``exclude``, ``top``,
        ``nested``, …

    Raises
    ------
    ArcadeMarkError
        As in `report`, or if no subset of that size can be found.

    Examples
    --------
    >>> arcademark.search(size=3).results[0].best.tasks  # doctest: +SKIP
    """
    table = normalised(sequence(sources), ScoreOptions(suite=suite, references=references, algorithms=algorithms))
    wanted = SearchRequest(size=5 if size is None and options.get("plan") is None else size, **options)
    result = searched(table, wanted, "search")
    if out is not None:
        write_document(Path(out), files.dumps(result.results[0].model))
    return Subsets.from_analysis(result)
