"""A paper that was never written, with one of everything that a reproduction can hold."""

from arcademark.analysis.reproductions.analysis import document
from arcademark.catalogue.model import Location, Source
from arcademark.reproduce.comparison import PrintedComparison, Reproduction
from arcademark.reproduce.figures import Panel, PanelSeries, PaperFigure

SOURCE = Source("nobody-1999", "Nobody", "Scores <of> none", "Nowhere", 1999)


def cell(row, algorithm, quantity, printed, recomputed="", verdict="agrees", why="", category=""):
    where = f"Table 3, {algorithm}, {row}, {quantity}"
    place = Location(3, row, algorithm, quantity)
    return PrintedComparison(where, printed, recomputed or printed, verdict, why, place, category)


CELLS = (
    cell("training frames", "Quick", "hns", "200M"),
    cell("pong", "Random", "score", "-20.7"),
    cell("pong", "Quick", "score", "20"),
    cell("pong", "Quick", "hns", "0.5", "50.0", "differs", "A hundredth.", "lost factor"),
    cell("qbert", "Random", "score", "163.9"),
    cell("qbert", "Quick", "score", "777", "770", "differs", "Nobody knows.", "cause not found"),
    cell("qbert", "Quick", "hns", "4.60", "4.61", "agrees", "4.60 of rounded references"),
    cell("mean", "Random", "hns", "0.00"),
    cell("mean", "Quick", "hns", "2.55", "27.31", "differs", "A hundredth.", "lost factor"),
    cell("median", "Random", "hns", "0.00"),
    cell("median", "Quick", "hns", "2.5", "27.3", "agrees", "2.5 of rounded references"),
)
TABLE = Reproduction(SOURCE.key, "Table 3: HNS, all", 3, CELLS)

STATEMENTS = Reproduction(
    SOURCE.key,
    "Statements",
    None,
    (
        PrintedComparison("§1: Quick is best", "in 2 games", "in 2 games", "agrees"),
        PrintedComparison("§2: Quick is never worst", "0 games", "1 game", "differs", "In Pong it is."),
        PrintedComparison("§3: how people played", "Table 9", "", "not available", "The column is lost."),
    ),
)

ALGORITHMS = ("Quick", "Large", "Small")
TRAINING = ("200M", "10B", "1M")
BARS = PaperFigure(
    SOURCE.key,
    1,
    "Figure 1: HNS",
    "Mean and median.",
    (
        Panel(
            "Mean HNS",
            "bars",
            "%",
            (PanelSeries("Mean HNS", (874.0, 4996.0, 25.0)),),
            ALGORITHMS,
            TRAINING,
            scale="log",
            marks=(100.0,),
        ),
        Panel(
            "Median HNS",
            "bars",
            "%",
            (PanelSeries("Median HNS", (None, 2041.0, 5.5)),),
            ALGORITHMS,
            TRAINING,
            scale="log",
            marks=(100.0,),
        ),
        Panel("Records", "bars", "records", (PanelSeries("Records", (4.0, 19.0, 0.0)),), ALGORITHMS, TRAINING),
        Panel(
            "Training frames",
            "bars",
            "billion frames",
            (PanelSeries("Training frames", (0.2, 10.0, 0.001)),),
            ALGORITHMS,
            TRAINING,
            scale="log",
        ),
    ),
)
GROUPED = PaperFigure(
    SOURCE.key,
    2,
    "Figure 2: two games",
    "Two algorithms.",
    tuple(
        Panel(
            title, "bars", "", (PanelSeries("BASS", (1.5, -0.5)), PanelSeries("RAM", (3.0, 0.25))), ("Pong", "Q*bert")
        )
        for title in ("one", "other")
    ),
)
STEPS = PaperFigure(
    SOURCE.key,
    4,
    "Figure 4: distributions",
    "Fractions of games.",
    (
        Panel(
            "scores",
            "steps",
            "fraction of games",
            (PanelSeries("Basic", (1.0, 0.5, 0.25), (0.2, 0.5, 1.0)), PanelSeries("RAM", (0.75, 0.25), (0.4, 3.0))),
            x_unit="score",
            x_limits=(0.0, 2.0),
            marks=(1.0,),
        ),
    ),
)
MIXED = PaperFigure(
    SOURCE.key,
    3,
    "Figure 3: averages",
    "By two sets, where there are two.",
    tuple(
        Panel(title, "bars", "", tuple(PanelSeries(name, (1.5, 33.8)) for name in names), ("BASS", "RAM"))
        for title, names in (
            ("Average baseline score", ("the three published baselines", "our runs of 37 baselines")),
            ("Median baseline score", ("the three published baselines", "our runs of 37 baselines")),
            ("Average inter-algorithm score", ("the five learners",)),
            ("Median inter-algorithm score", ("the five learners",)),
        )
    ),
)
FIGURES = (BARS, GROUPED, MIXED, STEPS)


def made_up(*parts, figures=FIGURES):
    return document("made-up", SOURCE, parts or (TABLE, STATEMENTS), figures)
