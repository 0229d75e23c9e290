"""What ``import arcademark`` offers in Python; each name is reachable as ``arcademark.NAME``.

The command line does the same: ``arcademark.report("runs/dqn")`` is ``arcademark report runs/dqn``, and what it returns
is shown by a notebook, or saved as a page, LaTeX, Markdown or JSON.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from arcademark.agents.loading import AgentSpec
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.files import check_replaceable, write_output
from arcademark.metrics.training import CommonCurves
from arcademark.reports import blocks, presenter, wording
from arcademark.reports.blocks import Document
from arcademark.reports.layout import Console
from arcademark.reports.render import html, json, latex, markdown, terminal
from arcademark.reports.runs.learning import MOST_POINTS
from arcademark.reports.subsets import predictors
from arcademark.reports.subsets.dataset import normalised
from arcademark.reports.subsets.predicting import Predicted, predicted
from arcademark.reports.subsets.searching import Asked, Searched, searched
from arcademark.reports.tables.analysis import analyse
from arcademark.reports.tables.compare import compare_tables
from arcademark.reports.tables.comparison import Comparison
from arcademark.reports.tables.dataset import ScoreOptions
from arcademark.reports.tables.loading import ScoreSource, is_table
from arcademark.reports.tables.report import ScoreReport
from arcademark.runs.execution import execute
from arcademark.runs.plan import AllStarts, make_plan
from arcademark.runs.replay.scalars import logged
from arcademark.scores.formulas import escaped
from arcademark.subset.predict import files
from arcademark.suite import protocols
from arcademark.suite.protocols import Protocol, StepProtocol, step_protocol

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas

Analysis = TypeVar("Analysis")

WIDTH = 100  # columns of what ``print`` shows


class Shown(Generic[Analysis]):
    """An analysis, and every form in which it can be shown.

    Parameters
    ----------
    analysis : dataclass
        The numbers, as frozen dataclasses; its fields can be read from this object, too.
    present : callable, optional
        Makes the document of it, where that takes more than it.

    Examples
    --------
    >>> found = arcademark.report({"mine": {"pong": [18.9, 19.3]}})  # doctest: +SKIP
    >>> found.algorithms[0].summaries[0].median.value  # doctest: +SKIP
    >>> found.save("report.html")  # doctest: +SKIP
    >>> found.plot("standing.pdf")  # doctest: +SKIP
    """

    def __init__(self, analysis: Analysis, present: Callable[[Analysis], Document] = presenter.document) -> None:
        self.analysis = analysis
        self._present = present

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.analysis, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.analysis)})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shown) and bool(self.analysis == other.analysis)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        out = io.StringIO()
        terminal.render(self._present(self.analysis), Console(file=out, width=WIDTH, color_system=None))
        return out.getvalue()

    def __repr__(self) -> str:
        return f"<{type(self.analysis).__name__}: {self._present(self.analysis).title}>"

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own."""
        import html as escaping

        page = escaping.escape(self.to_html(), quote=True)
        return f'<iframe sandbox srcdoc="{page}" style="width: 100%; height: 40rem; border: 0"></iframe>'

    def to_html(self) -> str:
        """Return a whole HTML page that works offline."""
        return html.render(self._present(self.analysis))

    def to_latex(self) -> str:
        """Return the tables in LaTeX, for booktabs."""
        return latex.render(self._present(self.analysis), everything=True)

    def to_markdown(self) -> str:
        """Return everything as Markdown."""
        return markdown.render(self._present(self.analysis), everything=True)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values, under the schema that their "schema" names."""
        return json.render(self.analysis)

    def to_pandas(self) -> pandas.DataFrame:
        """Return each algorithm's score on each game: a row each, with what it is normalised to in percent.

        Raises
        ------
        ArcadeMarkError
            If pandas is not installed, or the analysis has no scores of algorithms.
        """
        try:
            import pandas
        except ImportError:
            raise ArcadeMarkError("pandas is not installed; install it, as in pip install pandas") from None
        return pandas.DataFrame(self._rows())

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the document that the command writes, as the file's name ends.

        Parameters
        ----------
        file : path
            ``.html``, a page that works offline; ``.json``; ``.tex``, tables in LaTeX; ``.md``, Markdown; ``.csv``, the
            rows of `to_pandas`. An earlier file of its kind that we wrote is replaced, nothing else.

        Raises
        ------
        ArcadeMarkError
            If the name ends otherwise, something else is there, the file cannot be written, or, of ``.csv``, the
            analysis has no scores of algorithms.
        """
        forms = {
            ".html": self.to_html,
            ".json": lambda: json.text(self.to_json()),
            ".tex": self.to_latex,
            ".md": self.to_markdown,
            ".csv": self._csv,
        }
        path = _ending(file, tuple(forms))
        _write(path, forms[path.suffix.lower()]().encode(errors="backslashreplace"))

    def plot(
        self, file: str | os.PathLike[str] | None = None, *, figure: str | None = None
    ) -> matplotlib.figure.Figure:
        """Draw a figure of the page, and write it where a file is named.

        Parameters
        ----------
        file : path, optional
            Where to write it, too: ``.svg``, ``.png`` or ``.pdf``; replaced like what `save` writes.
        figure : str, optional
            Which: of runs "standing", "learning" or "distribution" (of episodes), of a comparison "profiles"; by
            default the page's first.

        Returns
        -------
        matplotlib.figure.Figure
            It can be changed and saved. Of many algorithms the first five are shown.

        Raises
        ------
        ArcadeMarkError
            If the page has no figure, or none of that name; if the file is refused.
        """
        from arcademark.reports.figures import files as drawings

        path = None if file is None else _ending(file, drawings.KINDS)
        shown = blocks.flat(self._present(self.analysis).blocks)
        found = {block.name: block for block in shown if isinstance(block, blocks.Figure)}
        if not found:
            raise ArcadeMarkError(f"{type(self.analysis).__name__}: its page has no figure, as it is of no runs")
        name = figure or next(iter(found))
        if name not in found:
            raise UnknownNameError("figure", name, found)
        model = found[name].alone(next((block.legend for block in found.values() if block.legend), ()))
        if path is not None:
            _write(path, drawings.file(model, path.suffix.lower(), name))
        return drawings.draw(model)

    def curves(self, points: int = MOST_POINTS) -> dict[tuple[str, str], CommonCurves]:
        """Return how training went, of each algorithm that learnt on each game.

        A point is the mean score of consecutive training episodes, as in the page's figure; `report --curves FILE.csv`
        writes every episode.

        Parameters
        ----------
        points : int, optional
            At how many frames, evenly spaced where all seeds of an algorithm on a game have scores.

        Returns
        -------
        dict from (algorithm, game) to (frames, scores)
            Float arrays of shape (points,) and (seeds, points).

        Raises
        ------
        ArcadeMarkError
            If the analysis has no scores of algorithms.
        """
        return {(curve.algorithm, curve.game): curve.common(points) for curve in self._scores().learning}

    def _scores(self) -> ScoreReport:
        if not isinstance(self.analysis, ScoreReport):
            raise ArcadeMarkError(f"{type(self.analysis).__name__} has no table of scores; take .to_json()")
        return self.analysis

    def _rows(self) -> list[dict[str, object]]:
        return [
            {
                "algorithm": item.name,
                "game": score.game,
                "score": score.score.value,
                "low": score.score.low,
                "high": score.score.high,
                "runs": score.runs,
                **{metric: found.value for metric, found in score.normalised.items()},
            }
            for item in self._scores().algorithms
            for score in item.scores
        ]

    def _csv(self) -> str:
        rows, out = self._rows(), io.StringIO()
        columns = list(dict.fromkeys(name for row in rows for name in row))
        written = csv.DictWriter(out, columns, lineterminator="\n")
        written.writeheader()
        written.writerows({name: escaped(value) for name, value in row.items()} for row in rows)
        return out.getvalue()


def run(
    agent: str | AgentSpec | Callable[..., Any] | object | Sequence[Any],
    games: str | Sequence[str] = "atari-5",
    protocol: str | Protocol = "world-records",
    *,
    overrides: Mapping[str, object] | None = None,
    seeds: int | Sequence[int] = 1,
    episodes: int | AllStarts | None = None,
    frames: int | None = None,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    settings: Mapping[str, object] | None = None,
    name: str | None = None,
    tensorboard: str | os.PathLike[str] | None = None,
    wandb: str | None = None,
) -> Shown[ScoreReport]:
    """Play an agent and report its scores; what was played before in the same directory is not played again.

    Parameters
    ----------
    agent : str, AgentSpec, object or function, or a sequence of these
        A built-in agent, or your own: ``"my_agent.py:make_agent"``, or what was made in Python: an object with ``act``,
        ``plan`` or ``predict``, of which each trial plays a copy; a function from observation to action; or a class or
        function that makes one, given the game as ``env``. Such an agent has no file: it is played in this process, and
        continuing its run takes the same name and source.
    games : str or sequence of str, optional
        A suite, a subset or games: ``"atari-57"``, ``["pong", "qbert"]``.
    protocol : str or Protocol, optional
        The environment's settings; see `protocol`.
    overrides : mapping of str to object, optional
        Settings of the protocol to change, as ``{"fire_reset": True}``; the run is labelled as modified.
    seeds : int or sequence of int, optional
        How many, from 0, or which.
    episodes : int or "all-starts", optional
        Episodes a trial, or every no-op start once; the protocol's number by default.
    frames : int, optional
        Training frames of a learner; the protocol's by default.
    out : path, optional
        The run's directory; ``runs/AGENT`` by default.
    workers : int, optional
        Processes that play; one a core by default, this one for what was made in Python.
    settings : mapping of str to object, optional
        The agent's own parameters.
    name : str, optional
        What reports call the agent; by default its reference, or the name of its class or function.
    tensorboard : path, optional
        A folder for TensorBoard's event files, to which scores are added as they happen.
    wandb : str, optional
        A project of W&B, in which they are logged, too; the package ``wandb`` must be installed.

    Raises
    ------
    ArcadeMarkError
        If anything named is unknown, the directory holds another run, or a package is missing.

    Examples
    --------
    >>> arcademark.run("random", ["pong"], seeds=2, episodes=3)  # doctest: +SKIP
    >>> arcademark.run(lambda observation: 1, "pong", episodes=1, name="always 1")  # doctest: +SKIP
    """
    from arcademark.agents.loading import agent_specs, made_spec, named

    several = isinstance(agent, Sequence) and not isinstance(agent, str)
    specs: list[AgentSpec] = []
    for item in agent if several else [agent]:  # type: ignore[attr-defined]
        if isinstance(item, str):
            specs += agent_specs(item, settings)
        else:
            specs.append(item if isinstance(item, AgentSpec) else made_spec(item, settings))
    stem = "agents" if several or isinstance(agent, AgentSpec) else specs[0].label
    if name is not None:
        if stem == "agents":
            raise ArcadeMarkError(f"name {name!r}: goes with one agent by its reference; an AgentSpec has its own")
        specs = list(named(specs, name))
    if isinstance(agent, str):
        stem = Path(agent.partition(":")[0]).stem
    directory = Path(out) if out is not None else Path("runs") / stem.strip("<>")
    rules = protocols.protocol(protocol) if isinstance(protocol, str) else protocol
    plan = make_plan(specs, games, rules.override(overrides or {}), seeds, episodes, frames)
    with logged(plan, directory, tensorboard, wandb) as log:
        execute(plan, directory, workers=workers, on_event=log)
    return report(directory)


def suite_protocol(suite: str, **overrides: object) -> StepProtocol:
    """Return the protocol of a suite of other tasks than Atari games, to be given to `run`.

    Parameters
    ----------
    suite : str
        A suite's file, the name of one that comes with ArcadeMark, or ``"gymnasium:CartPole-v1,Acrobot-v1"``.
    **overrides : object
        Settings to change, e.g. ``evaluation_episodes=10``.

    Raises
    ------
    ArcadeMarkError
        If there is no such suite, the file is not one, or a setting is unknown.

    Examples
    --------
    >>> arcademark.run("random", "all", arcademark.suite_protocol("gymnasium:CartPole-v1"))  # doctest: +SKIP
    """
    from arcademark.environments.registry import load_suite

    return step_protocol(load_suite(suite)).override(overrides)


def report(sources: Sequence[ScoreSource] | ScoreSource, **options: Any) -> Shown[ScoreReport]:
    """Report scores: every summary, every game, estimates of the whole benchmark, and what to know before using them.

    Parameters
    ----------
    sources : path, ``"catalogue:review-2021"``, ScoreTable, mapping, DataFrame, or a sequence of these
        A run's directory or a file of scores; ``{"DQN": {"pong": [18.9, 19.3]}}``; or a DataFrame with the columns
        algorithm, game and score, and run if there are several.
    **options : object
        ``suite``, ``references``, ``algorithms``, ``games``, ``metrics``, ``protocol``, ``frames``, …: the fields of
        `arcademark.reports.tables.dataset.ScoreOptions`.

    Raises
    ------
    ArcadeMarkError
        Where something named is not there, or a file is not what it should be.

    Examples
    --------
    >>> arcademark.report("catalogue:review-2021", algorithms=["Rainbow"]).to_html()  # doctest: +SKIP
    """
    return Shown(analyse(sources, **options))


def compare(sources: Sequence[ScoreSource] | ScoreSource, *named: ScoreSource, **options: Any) -> Shown[Comparison]:
    """Compare algorithms: tests, intervals of differences, and how many runs it takes.

    Parameters
    ----------
    sources
        As in `report`.
    *named : str or source
        Algorithms, at least two, or all if none is named; and more sources: what is a run, a file or
        ``"catalogue:…"`` is no algorithm's name.
    **options : object
        As in `report`; ``plan``, an `arcademark.metrics.sequential.Plan`, also tests group by group whether more runs
        are needed, with ``summary`` ("mean", "median" or "iqm") of each run's games.

    Raises
    ------
    ArcadeMarkError
        As `report`, or where there are no two different algorithms that share a game.

    Examples
    --------
    >>> arcademark.compare("runs/a", "runs/b").save("compare.html")  # doctest: +SKIP
    >>> arcademark.compare("catalogue:review-2021", "Rainbow", "Muesli").to_markdown()  # doctest: +SKIP
    """
    algorithms = tuple(item for item in named if isinstance(item, str) and not is_table(item))
    beside = [item for item in named if not (isinstance(item, str) and item in algorithms)]
    places = [*_listed(sources), *beside] if beside else sources
    return Shown(compare_tables(places, algorithms=algorithms, **options))


def predict(
    sources: Sequence[ScoreSource] | ScoreSource,
    model: str = "any",
    *,
    training: Sequence[ScoreSource] | ScoreSource | None = None,
    references: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Shown[Predicted]:
    """Predict the median of all games, and every game, from the games that there are.

    Parameters
    ----------
    sources
        As in `report`.
    model : str, optional
        "any", from whatever games there are, a published model ("atari-5"), or a model file.
    training : optional
        Scores of other algorithms to learn from, instead of Atari's published ones; then no model is taken but "any".
    references : path, optional
        With ``training``, another benchmark's reference scores: a file with the columns task, low and high.
    **options : object
        As in `arcademark.reports.subsets.predicting.predicted`: ``algorithms``, ``protocol``, ``level``, ``frames``, …

    Raises
    ------
    ArcadeMarkError
        As `report`, or where no algorithm has the games of any model.

    Examples
    --------
    >>> arcademark.predict({"mine": {"pong": 19.3, "qbert": 12_000}})  # doctest: +SKIP
    """
    from arcademark.reports import presenter

    if references is not None and training is None:
        raise ArcadeMarkError("references go with training, the scores to learn from; give it, too")
    if training is not None:
        beside = None if references is None else Path(references)
        options["training"] = predictors.own(_listed(training), beside)
    return Shown(predicted(_listed(sources), model, **options), presenter.document)


def search(
    sources: Sequence[ScoreSource] | ScoreSource = "catalogue:atari-5-training",
    size: int = 5,
    *,
    suite: str | None = None,
    references: str | os.PathLike[str] | None = None,
    algorithms: str | Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Shown[Searched]:
    """Find the few tasks that best predict a summary of all, with a proof.

    Parameters
    ----------
    sources, suite, references, algorithms
        As in `report`.
    size : int, optional
        Tasks of the subset.
    out : path, optional
        Where to write the best subset's model, which `predict` takes.
    **options : object
        As in `arcademark.reports.subsets.searching.Asked`: ``target``, ``include``, ``exclude``, ``top``, ``nested``, …

    Raises
    ------
    ArcadeMarkError
        As `report`, or where no subset of that size can be searched.

    Examples
    --------
    >>> arcademark.search(size=3).results[0].best.tasks  # doctest: +SKIP
    """
    from arcademark.reports import presenter

    scores = normalised(_listed(sources), ScoreOptions(suite=suite, references=references, algorithms=algorithms))
    found = searched(scores, Asked(size=size, **options), "search")
    if out is not None:
        _write(Path(out), files.dumps(found.results[0].model).encode())
    return Shown(found, presenter.document)


def _listed(sources: Sequence[ScoreSource] | ScoreSource) -> Sequence[ScoreSource]:
    return sources if isinstance(sources, Sequence) and not isinstance(sources, str) else [sources]


def _ending(file: str | os.PathLike[str], endings: Sequence[str]) -> Path:
    path = Path(file)
    if path.suffix.lower() not in endings:
        raise ArcadeMarkError(f"{path}: expected a name that ends with {wording.listing(endings, last='or')}")
    return path


def _write(path: Path, content: bytes) -> None:
    """Write a file whole, in place of nothing but an earlier one of its kind that we wrote."""
    check_replaceable(path, content, "name another file, or move it away")

    def fill(draft: Path) -> None:
        draft.write_bytes(content)

    write_output(path, fill)
