"""Whatever is wrong with a command: one line that names it, exit code 2, nothing written.

The one place for what messages say: a line a case, the command and, behind a bar, the part of its message that matters.
"""

import json
import os
import shlex
import shutil

import numpy as np
import pytest

MODEL = {
    "schema": "arcademark.subset-model/1",
    "name": "own-2",
    "target": "mean",
    "citation": "made up",
    "tasks": ["a", "b"],
    "coefficients": [0.5, 0.5],
    "relative_error": 0.1,
    "references": {"a": [100, 150], "b": [100, 150]},
}
MODELS = {
    "r2": MODEL | {"r_squared": 5},
    "no-references": MODEL | {"references": {}},
    "huge": MODEL | {"intercept": 1e300},
}
AGENT = "def make(env):\n    return lambda observation: 0\n\n\n"
TARGETS = (
    "def fails(scores):\n    return 1 / 0\n\n\ndef words(scores):\n    return 'much'\n\n\n"
    "def worst(scores):\n    return min(scores)\n"
)


def table(score, players=20):
    rows = [f"player {row:02},{task},{score(row, task)}" for row in range(players) for task in "abcde"]
    return "algorithm,task,score\n" + "\n".join(rows) + "\n"


def skill(row, task):
    luck = np.random.default_rng(10 * row + "abcde".index(task)).uniform(0.8, 1.2)
    return float(100 + 50 * (0.3 + 0.05 * row) * luck)


def papers(*owners):
    return "algorithm,paper\n" + "".join(f"{owner}\n" for owner in owners)


RUNS = "algorithm,game,run,score\n"
FILES = {
    "ok.csv": table(skill),
    "few.csv": table(skill, 5),
    "constant.csv": table(lambda row, task: 120.0),
    "empty.csv": "",
    "refs.csv": "task,low,high\n" + "".join(f"{task},100,150\n" for task in "abcde"),
    "refs-no-row.csv": "task,low,high\n",
    "refs-other.csv": "task,low,high\nhopper,0,1\n",
    "me.csv": "algorithm,task,score\nme,a,120\n",
    "both.csv": "algorithm,task,score\nme,a,120\nme,b,130\n",
    "atari.csv": "game,Mine\nalien,2000\npong,18\n",
    "unknown.csv": "game,Mine\npnog,18\n",
    "elsewhere.csv": "game,Mine\nadventure,2\n",
    "gaps.csv": "game,DQN,PPO\npong,1,2\nqbert,3,\n",
    "good.csv": RUNS
    + "".join(f"{a},{g},{r},{r}\n" for a in ("mine", "yours") for g in ("pong", "qbert") for r in "123"),
    "one.csv": f"{RUNS}a,pong,0,1\n",
    "apart.csv": f"{RUNS}a,pong,0,1\nb,qbert,0,1\n",
    "game.csv": f"{RUNS}a,pnog,0,1\n",
    "cheetah.csv": f"{RUNS}a,HalfCheetah-v4,0,1\n",
    "protocols.csv": "algorithm,game,run,score,protocol\na,pong,0,1,saber\na,qbert,0,1,dqn-2015\n",
    "one-paper.csv": papers(*(f"player {row:02},p" for row in range(20))),
    "strangers.csv": papers("nobody,p"),
    "years.csv": "algorithm,year\na,2015\n",
    "no-paper.csv": papers("a,"),
    "two-papers.csv": papers("a,b", "a,c"),
    "frames-negative.csv": "game,frames\npong,-3\n",
    "frames-cost.csv": "game,cost\npong,1\n",
    "frames-unknown.csv": "game,frames\npnog,1\n",
    "frames-one.csv": "game,frames\npong,1\n",
    "own.py": TARGETS,
    "some.py": f'{AGENT}make.supports = lambda env: None if env.game == "pong" else "too hard for it"\n',
    "broken.json": "{",
    "file": "",
    "thesis/chapter.txt": "words",
    "page/index.html": "<!doctype html>\n<title>Mine</title>",
    "notes.html": "<!doctype html>\n<p>ArcadeMark",
    "film.gif": "GIF89a of somebody else",
    "mixed/scores.csv": "algorithm,game,score\nmine,pong,3\n",
    "empty/none/x": "",
    **{f"{name}.json": json.dumps(model) for name, model in MODELS.items()},
}

REFUSED = """
rnu | did you mean 'run'
run random --gmaes pong | --gmaes
run | no AGENT is named
run randum | did you mean 'random'
run nowhere.py:make | nowhere.py
run perturb --set probabillity=1 | did you mean 'probability'
run perturb --set probability | name=value
run perturb --set probability=1 --set probability=2 | --set probability is given twice
run random --games pnog | did you mean 'pong'
run random --games , | no games
run random --games joust | joust
run random --protocol saper | did you mean 'saber'
run random --protocol human-starts | cannot be run
run random --override frame_skp=5 | frame_skip
run random --override frame_skip=many | frame_skip
run random --seeds x | --seeds
run random --seeds 3,3 | expected different whole numbers
run random --episodes 0 | --episodes
run random --episodes all | or all-starts
run random --workers none | --workers
run random --engine locla | did you mean 'local'
run random --engine address=head:6379 | address: engine local has none; give --engine ray
run random --engine answer_seconds=3 | answer_seconds goes with a program that plays (--agent-command)
run random --suite gymnasium:CartPole-v1 --protocol saber | suite and protocol: a suite has its own protocol
run --agent-command ./no-such | agent command ./no-such: no such program
run const --name all | names one agent, and these are 18
run random --name "\x1b[31m" | expected up to 100 visible characters
run random --out thesis | thesis
run sarsa --games pong --frames 100 --training-episodes 2 | expected one of the two
run uct --games pong --frames 3 | does not learn, so it cannot be trained; leave --frames out
run uct --games pong --training-episodes 3 | leave --training-episodes out
tune uct --try simulations=1,2 --games pong --frames 3 | does not learn
run random --games pong --shard 5/4 | K from 1 to N, and N at most the number of trials, 1
run random --shard third | expected the shard's number
run random --shard 1/2 --until-error 50% | --shard and --until-error
run random --games pong,qbert --shard 1/2 --to json | no scores are shown before shards are merged
run some.py:make --until-error 15% | cannot be reached: some.py:make plays 1 of the 57 games
run const --until-error 15% | is for one agent, and 18 are named
run random --until-error 15 | write 15%, or 0.15
run random --until-error nan | write 15%, or 0.15
run random --until-error 15% --protocol machado-2018 --out run | another run
run random --slurm partition=cpu | expected the limit of a job
run random --slurm time=soon | expected minutes
run random --slurm time=3 | twice the 90 seconds
run random --slurm time=60,cores=2 | known: account, array_parallelism
run random --slurm time=60,cpus=0 | whole number of at least 1
run random --slurm time=60,cpus=2,cpus_per_task=2 | cpus_per_task is given twice
run random --slurm time=60,qos= | expected a value
run random --slurm time=60 --out runs/%j | choose another directory
run random --slurm time=60,jobs=9 | expected at most one job a trial: 5 here
run random --slurm time=60 --slurm merge:time=2 | merge: time: 2 minutes
run random --slurm time=60 --set weights=none | parameter
run random --slurm time=60 --wandb x | which are of one process
run random --slurm time=60 | sbatch is not found
tune random --try a=1,2 --dry-run | goes with --slurm
tune const --try action=FIRE,NOOP --slurm time=60 --to=json | --slurm: no scores
tune const --try action=UP | one setting only
tune const --try action=UP,UP | expected different values
tune const --try action | expected name=value
tune const --try action=UP,up | stands for two of the combinations
tune const --try action=UP,DOWN --set action=UP | both in --try and in --set
tune const --try motion=UP,DOWN | unknown parameter
tune baselines --try action=UP,DOWN | is a set
tune perturb --try probability=0.1,0.2 | is 18 agents
robustness random | Missing option '--out'
robustness --out o | no such directory
robustness --seeds 9 --out o | --seeds: of what is played, and no AGENT is named
robustness const --out o | const is 18 agents; name one
robustness random --games pong --variants 9 --out o | is not one of
robustness sarsa --override reported_episodes=training_last_k --out o | what was learnt once is scored
plan random --simulate 0 | from 1 to 100,000, as in 1,8,64
plan random --engine steam | unknown engine 'steam'
plan random --assume rate=nan | expected finite numbers
play pnog | did you mean 'pong'
info gmaes | did you mean 'games'
info suites atari-75 | did you mean 'atari-57'
info schemas arcademark.report/1 | did you mean 'arcademark.report/4'
info features show bascic | unknown feature set 'bascic'; did you mean 'basic'
info features show basic --games freway | did you mean 'freeway'
info features show basic --games freeway --set rows=0 | parameter 'rows' is '0': expected int from 1 to 250
info features show ram --set rows=3 | feature set ram has no parameters; remove --set rows
info features show basic --only episode=1 | chooses in a run; name one with --run
info features show basic --run nowhere | nowhere: no such directory
info features show basic --games freeway --set trajectory=none.txt | none.txt: cannot read the file
info features show basic --run nowhere --figure x.jpg | x.jpg: expected a name that ends with .svg, .png or .pdf
info features actions nowhere --out actions.txt | nowhere: no such directory
info features actions run --only game=pong --out file | exists already
verify nowhere | nowhere
verify run --only sed=1 | unknown setting of --only 'sed'; did you mean 'seed'?
verify run --only seed=one | --only seed=one: 'one' is not a valid integer
verify run --only seed=1,seed=2 | --only seed is given twice
verify run --to jsn | expected json, latex, markdown, or a page's name
watch nowhere | nowhere
watch a b c | 3 runs are named; expected one, or two
watch a --beside phase=1 | unknown setting of --beside 'phase'
watch a --set x=1 | are of an agent that plays
watch random --live | name what it plays, as in --only game=pong
watch random --live --out x.gif | leave one of them out
watch random a --live --only game=pong | an agent that plays is shown alone
watch baselines --live --only game=pong | is 37 trials; name one agent and one game
watch run --only game=pong --out film.gif | film.gif: was not written by ArcadeMark
status nowhere | no such directory
status empty | no run
status file | is a file
status run --watch --to=json | works only with terminal output
runs list empty | no run in it
runs merge all nowhere | no such directory
runs check nowhere | nowhere
runs ledger nowhere | no such directory
runs export run --out file | expected a file named *.parquet
runs export run --out x.parquet --only game=pong | are for --minari
runs import good.csv | no log of training
catalogue submit run --paper doe-2026 | --paper, --kind and --out go together
catalogue submit run --cite authors=Doe | go together
site --out thesis | thesis: the folder holds other files
site --out page | was not written by ArcadeMark
site --out file | is no folder
site mixed | mixed: holds runs and other tables; name each
site --collection nobody-1999 | nobody-1999
report nowhere | nowhere
report run --to file/page.html | file/page.html
report run --to . | ends with .html
report run --to thesis.html | is a folder
report run --to notes.html | was not written by ArcadeMark as such a file
report run --curves c.jpg | .png, .pdf, .svg or .csv
report run --curves c.png | no training is recorded
report good.csv --tensorboard more | expected a run
report catalogue:ale-2013 --suite ale-55 --model atari-5 | estimates the median of atari-57; leave the model out
score catalogue:review-2021 --games "" | --games '': names nothing
score catalogue: | catalogue: '': names nothing
score catalogue:review-2021 scores.csv --read algorithm= | (--read algorithm=NAME) is empty
score good.csv --read decimal=; | --read decimal=;
score good.csv --read format=csvv | csvv
score catalogue:review | did you mean 'review-2021'
score nowhere.csv | nowhere.csv
score | TABLE
score "" | the name of a table is empty
score good.csv --algorithms mien | did you mean 'mine'
score good.csv --metric hsn | did you mean 'hns'
score good.csv --suite atari-75 | did you mean 'atari-57'
score good.csv --games pnog | did you mean 'pong'
score good.csv --protocol sabr | did you mean 'saber'
score good.csv --intervals method=bca | symmetric
score good.csv --frames 1e6 --frames 2e6 | twice
score good.csv --frames mien=1e6 | did you mean 'mine'
score good.csv --frames mine=20Q | as in --frames 200M
score good.csv --suite ale-55 --references refs.csv | leave one out
score good.csv --to=json --to=latex | choose one
score good.csv --to good.csv | expected json, latex, markdown, or a page's name
score good.csv --model dqn-7 | no published model
score apart.csv --games common | common
score good.csv --tolerance 100% | share of runs 1
score run --suite atari-100k --games pong --model atari-5 | leave the model out
score good.csv --wide | --wide is a form of --export
score good.csv --export ok.csv | exists already
score good.csv --export a.npz --wide | leave it out
score good.csv --export a.txt | *.csv or *.tsv
score gaps.csv --export a.npz | --games common
score good.csv --references refs-no-row.csv | no rows
score good.csv --references refs-other.csv | none of the tasks
score game.csv | did you mean 'pong'
score cheetah.csv | --references
score protocols.csv | row 3
compare good.csv mine mine | not compared with itself
compare good.csv mine | name another
compare good.csv mine yuors | did you mean 'yours'
compare good.csv --plan groups=3 | --plan says how to test with --sequential
compare one.csv | only one algorithm
compare apart.csv | no game in common
compare good.csv --suite atari-5 | atari-57
compare good.csv --sequential --plan summary=medain | median
compare good.csv --sequential --plan group=1 | larger or more groups
compare good.csv --sequential --plan alpha=0 | --plan alpha=0
compare good.csv --intervals resamples=0 | --intervals resamples=0
reproduce | PAPER
reproduce reviw | did you mean 'review'
reproduce review --table 15 | Tables 3 to 14
reproduce review --figure 5 | Figures 1 to 4
reproduce ale-2013 --figure 1 | Figures 2 to 4
reproduce review --figure 5 --out figure.pdf | .svg or .png
reproduce review --out figure.svg | --figure N
reproduce review --table 3 --out figures | --figure N
catalogue shw | did you mean 'show'
catalogue show Rainbw | did you mean 'Rainbow'
catalogue show review-2012 | did you mean 'review-2021'
catalogue list --collection "" | --collection '': names nothing
catalogue list --where kind= | --where kind '': names nothing
catalogue list --where kind=modelbased | did you mean 'model-based'
catalogue list --where protocol=dqn2015 | did you mean 'dqn-2015'
catalogue list --where since=2030 | no algorithm of the catalogue fits
catalogue errata --paper fan-2012 | did you mean 'fan-2021'
catalogue errata --category roundings | did you mean 'rounding'
catalogue export --collection ale-2013 --out good.csv | --overwrite
catalogue export --collection ale-2013 --out . | is a folder
catalogue add file | file
subset serch | did you mean 'search'
subset search | no scores named
subset search catalogue:atari-5-training | --size N or --plan
subset search catalogue:atari-5-training --size 2 --plan atari-5 | --size N or --plan
subset search catalogue:atari-5-training --plan atari-9 | atari-5
subset search catalogue:atari-5-training --size 60 | size 60
subset search catalogue:atari-5-training --size 2 --include surround | fewer than 40
subset search catalogue:atari-5-training --size 2 --exclude phoenicks | phoenicks
subset search catalogue:atari-5-training --size 2 --target modus | modus
subset search catalogue:atari-5-training --size 1 --target own.py:words | gives 'much', expected a finite number
subset search catalogue:atari-5-training --size 1 --target own.py:wors | it has no 'wors'; did you mean 'worst'
subset search catalogue:atari-5-training --size 2 --out thesis | is a folder; name a file, as in --out thesis/model.json
subset search catalogue:atari-5-training --plan atari-5 --out file | name a folder
subset search catalogue:atari-5-training --sizes 1-2 --out m.json | name a folder
subset search catalogue:atari-5-training --sizes 3-1 | --sizes 3-1: '3-1' is no size
subset search catalogue:atari-5-training --sizes 1-9999 | 9,999 sizes
subset search catalogue:atari-5-training --sizes 1-3 --size 2 | --size does not go with --sizes
subset search catalogue:atari-5-training --sizes 1 --figure curve.gif | ends with .svg or .png
subset search catalogue:atari-5-training --size 1 --figure c.svg | --figure draws the curve of --sizes
subset search catalogue:review-2021 --size 2 | ask for fewer
subset search few.csv --references refs.csv --size 2 | 10 folds of 5 algorithms
subset search ok.csv --references refs.csv --size 2 --algorithms "player 00" | only one algorithm takes part
subset search constant.csv --references refs.csv --size 2 | 0 of 5 tasks have 10 of these and tell them apart
subset search ok.csv ok.csv --references refs.csv --size 2 | given twice
subset search ok.csv --references refs.csv --size 2 --algorithms "player 00,player 00" | named twice
subset search ok.csv --references refs.csv --size 0 | '--size'
subset search ok.csv --references refs.csv --size 2 --set transform=sqrt | unknown transform 'sqrt'
subset search ok.csv --references refs.csv --size 2 --set minimum_tasks=6 | minimum_tasks
subset search ok.csv --references refs.csv --size 2 --include a,a | 'a' is named twice
subset search ok.csv --references refs.csv --size 2 --include a --exclude a | included and excluded
subset search ok.csv --references refs.csv --size 2 --include z | unknown task 'z'
subset search ok.csv --size 2 | give reference scores with --references
subset search ok.csv --references refs.csv --size 2 --papers one-paper.csv | papers go with nested
subset search ok.csv --references refs.csv --size 2 --nested --papers nowhere.csv | cannot read the file
subset search ok.csv --references refs.csv --size 2 --nested --papers strangers.csv | names none of the algorithms
subset search ok.csv --references refs.csv --size 2 --nested --papers one-paper.csv | all algorithms come from 'p'
subset search ok.csv --references refs.csv --size 2 --nested --papers years.csv | expected algorithm and paper
subset search ok.csv --references refs.csv --size 2 --nested --papers no-paper.csv | column 'paper': the cell is empty
subset search ok.csv --references refs.csv --size 2 --nested --papers two-papers.csv | row 3: 'a' stands twice
subset search ok.csv --references refs.csv --size 2 --target nowhere.py:f | there is no such file
subset search ok.csv --references refs.csv --size 2 --target own.py:fails | ZeroDivisionError: division by zero
subset predict both.csv --model r2.json | <= 1.0 - at `$.r_squared`
subset predict both.csv --model no-references.json | no references
subset predict both.csv --model huge.json | no finite number
subset predict both.csv --model broken.json | not JSON
subset predict atari.csv --model nix | atari-5-val, any
subset predict atari.csv --model atari-10 | needs scores on Amidar
subset predict atari.csv --model dqn-7 | no published model
subset predict atari.csv --model nowhere.json | cannot read the file
subset predict atari.csv --model atari-5 --frames frames-one.csv | frames order what to play next
subset predict me.csv | a table to learn from with --training
subset predict unknown.csv | did you mean 'pong'
subset predict elsewhere.csv | no score on any of Alien
subset predict atari.csv --level nan | level nan
subset predict atari.csv --frames frames-negative.csv | row 2: expected each game once
subset predict atari.csv --frames empty.csv | empty.csv: the file is empty
subset predict atari.csv --frames frames-cost.csv | columns game and frames
subset predict atari.csv --frames frames-unknown.csv | did you mean 'pong'
subset predict atari.csv --frames frames-one.csv | no frames above 0 for
subset predict me.csv --references refs.csv | references goes with training
subset predict me.csv --papers one-paper.csv | papers goes with training
subset predict me.csv --references refs.csv --training ok.csv --model r2.json | two ways to predict
subset predict me.csv --references refs.csv --training few.csv | 0 of 5 tasks have 5 algorithms that differ
subset predict me.csv --references refs.csv --training ok.csv --papers one-paper.csv | all of one paper, p
subset predict atari.csv --references refs.csv --training ok.csv | no score on any of a, b, c, d and e
subset study --models atari-7 | did you mean 'atari-5'
subset study --relative-to Rainbo | Rainbow
subset study catalogue:, | catalogue: ',': names nothing
subset study atari.csv --models atari-1 | no algorithm has all games of Atari-1
subset coverage --suite atari-100k | name games to predict from
subset coverage atari-5 --suite atari-100k | atari-5: Double Dunk, Name This Game, Phoenix not among the games
subset coverage atari-5 --references x.csv | goes with training
subset coverage atari-5 --suite atari-57 --training x.csv | leave one out
"""

CASES = [tuple(part.strip() for part in line.rsplit(" | ", 1)) for line in REFUSED.strip().splitlines()]


def contents(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, played_once):
    """A folder with all these files and a run, which no command here changes."""
    place = tmp_path_factory.mktemp("refused")
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    (place / "thesis.html").mkdir()
    for copy in ("run", "mixed/run"):
        shutil.copytree(played_once, place / copy)
    return place


@pytest.mark.parametrize(("command", "message"), CASES, ids=[command for command, _ in CASES])
def test_what_is_wrong_is_named_in_one_line_and_nothing_is_written(invoke, monkeypatch, folder, command, message):
    before = contents(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", os.devnull)
    answer = invoke(*shlex.split(command))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("arcademark: ")
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert contents(folder) == before


@pytest.mark.parametrize(
    "command", ["run random --games", "score catalogue:review-2021 --algorithms", "verify", "score"]
)
def test_a_long_name_is_cut(invoke, command):
    answer = invoke(*command.split(), "a" * 10**6)
    assert (answer.code, len(answer.err) < 2000) == (2, True)
    assert "(999,900 characters more)" in answer.err or "File name too long" in answer.err
