"""Programs that are not changed play on our emulator, and so do the processes that they start."""

import importlib
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, SimpleNamespace

import ale_py
import gymnasium
import numpy as np
import pytest

import arcademark.ale
from arcademark.ale import emulators, installation
from arcademark.ale import environments as environments_of_both
from arcademark.ale.startup import sitecustomize
from arcademark.ale.startup.sitecustomize import noted
from arcademark.emulator import build, original
from arcademark.environments.emulation.atari import AleEmulator
from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning


@pytest.fixture(scope="module", autouse=True)
def core():
    if build.compiler() is None:
        pytest.skip("no C compiler: the emulator cannot be compiled")
    build.core()


@pytest.fixture(autouse=True)
def _nothing_was_missed(monkeypatch, request):
    """Other tests' modules import ale-py's interface by name."""
    if "missed" not in request.node.name:
        monkeypatch.setattr(installation, "_missed", str)


@pytest.fixture
def installed():
    before = os.environ.keys() | {}
    arcademark.ale.install()
    yield
    arcademark.ale.uninstall()
    assert os.environ.keys() - {build.SWITCH} == before - {build.SWITCH}


@pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")
@pytest.mark.parametrize("name", ["ALE/Pong-v5", "PongNoFrameskip-v4", "PongNoFrameskip-v0", "Pong-v4", "Pong-v0"])
def test_ids_of_ale_py_play_on_our_emulator(name, installed):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ArcadeMarkWarning)
        env = gymnasium.make(name)
    assert type(env.unwrapped) is ale_py.AtariEnv
    assert env.unwrapped.ale.emulator == "console"
    assert env.spec.entry_point == "ale_py.env:AtariEnv"
    assert pickle.loads(pickle.dumps(env.unwrapped)).ale.emulator == "console"


def test_all_ways_to_ale_py_play_on_our_emulator_until_uninstalled(installed):
    arcademark.ale.install()  # a second time changes nothing
    gymnasium.register("MyPong-v0", "ale_py.env:AtariEnv", kwargs={"game": "pong"})
    gymnasium.register_envs(ale_py)
    made = [ale_py.AtariVectorEnv("pong", 2), gymnasium.make_vec("ALE/Pong-v5", 2), gymnasium.make("MyPong-v0")]
    assert {one.unwrapped.ale.emulator for one in made} == {"console"}
    assert type(made[1]) is ale_py.vector_env.AtariVectorEnv
    assert isinstance(made[2].unwrapped.clone_state(), ale_py.ALEState)
    assert type(ale_py._ale_py.ALEInterface()) is arcademark.ale.ALEInterface
    arcademark.ale.uninstall()
    arcademark.ale.uninstall()
    del gymnasium.registry["MyPong-v0"]
    assert not arcademark.ale.installed()
    assert type(ale_py.AtariEnv("pong").ale) is original.ALEInterface is ale_py._ale_py.ALEInterface
    assert type(ale_py.AtariVectorEnv("pong", 1).ale) is original.ALEVectorInterface
    assert gymnasium.spec("ALE/Pong-v5").entry_point == environments_of_both._WARNING_ENTRIES[0]
    assert (installation.SWITCH in os.environ, str(installation.STARTUP) in os.environ.get("PYTHONPATH", "")) == (0, 0)


def test_envpool_is_replaced_if_wanted_until_uninstalled(monkeypatch):
    for name in [one for one in sys.modules if one.partition(".")[0] == "envpool"]:
        monkeypatch.delitem(sys.modules, name)
    with monkeypatch.context() as imported:
        imported.setitem(sys.modules, "envpool", ModuleType("envpool"))
        with pytest.raises(ArcadeMarkError, match="EnvPool is already imported"):
            arcademark.ale.install(strict=True, envpool=True)
    finders = [*sys.meta_path]
    for _ in range(2):
        arcademark.ale.install(envpool=True)
    try:
        assert len(sys.meta_path) == len(finders) + 1
        assert importlib.import_module("envpool.python.protocol").EnvPool is arcademark.ale.envpool.EnvPool
        assert importlib.import_module("envpool") is arcademark.ale.envpool
        with pytest.raises(ModuleNotFoundError, match=r"envpool\.atari"):
            importlib.import_module("envpool.atari")
    finally:
        arcademark.ale.uninstall()
    assert sys.meta_path == finders
    assert not [one for one in ("envpool", "envpool.python") if one in sys.modules]


@pytest.mark.slow
def test_a_program_and_its_processes_use_our_envpool(tmp_path):
    (tmp_path / "train.py").write_text(
        "import envpool, multiprocessing, sys\n"
        "from envpool.python.protocol import EnvPool\n"
        "def play():\n"
        "    envs = envpool.make('Pong-v5', env_type='gym', num_envs=2)\n"
        "    envs.reset()\n"
        "    print(isinstance(envs, EnvPool), envpool.__name__, flush=True)\n"
        "if __name__ == '__main__':\n"
        "    playing = multiprocessing.get_context('spawn').Process(target=play)\n"
        "    playing.start()\n"
        "    playing.join()\n"
        "    play()\n"
    )
    done = python("-m", "arcademark.ale", "--envpool", "--strict", "train.py", cwd=tmp_path)
    assert done.stdout.splitlines() == ["True arcademark.ale.envpool"] * 2, done.stderr
    assert " on our emulator, 0 on ale-py (2 processes)" in done.stderr


def test_ale_py_still_plays_what_our_emulator_has_not_and_its_frames_are_counted(installed, monkeypatch):
    before = arcademark.ale.report()
    env = ale_py.AtariEnv("pong", sound_obs=True)
    assert env.ale.emulator == "ale"
    env.reset(seed=1)
    for _ in range(3):
        env.step(0)
    envs = ale_py.AtariVectorEnv("double_dunk", 2, noop_max=0, use_fire_reset=False)
    assert envs.ale.emulator == "ale"
    envs.reset(seed=1)
    start = arcademark.ale.report().ale_py
    for _ in range(5):
        envs.step(np.zeros(2, np.int64))
    after = arcademark.ale.report()
    assert start - before.ale_py >= 12
    assert after.ale_py - start == 5 * 4 * 2
    assert after.arcademark == before.arcademark
    monkeypatch.setenv(build.SWITCH, "off")
    assert type(AleEmulator("pong")._ale) is original.ALEInterface


def test_frames_count_whatever_is_restored(installed):
    before = arcademark.ale.report().arcademark
    env = ale_py.AtariEnv("breakout", frameskip=4)
    env.reset(seed=1)
    begun = arcademark.ale.report().arcademark
    state = env.clone_state()
    for _ in range(5):
        env.restore_state(state)
        env.step(1)
    assert begun >= before
    assert arcademark.ale.report().arcademark - begun == 20
    del env, state
    assert arcademark.ale.report().arcademark - begun == 20
    assert " on our emulator, " in str(arcademark.ale.report())


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: ale_py.AtariEnv("pong", sound_obs=True), "the setting sound_obs"),
        (lambda: gymnasium.make_vec("ALE/DoubleDunk-v5", 1), "a vector of 'double_dunk'"),
        (lambda: ale_py.AtariVectorEnv("pong", 1, img_height=250), "images larger than the screen"),
        (lambda: ale_py.AtariVectorEnv("pong", 1, max_num_frames_per_episode=0), "episodes without frames"),
        (None, "emulator is not available"),
    ],
)
def test_strict_raises_where_ale_py_would_play(make, why, installed, monkeypatch):
    arcademark.ale.install(strict=True)
    arcademark.ale.install()  # stays strict
    if make is None:
        monkeypatch.setenv(build.SWITCH, "off")
    with pytest.raises(ArcadeMarkError, match=f"strict=True.* forbids: .*{why}"):
        (make or (lambda: ale_py.AtariEnv("pong")))()


def test_what_was_missed_is_said_once(monkeypatch):
    env = ale_py.AtariEnv("pong")
    for strict in (True, False):
        with (
            pytest.raises(ArcadeMarkError, match="ale-py's environments already exist")
            if strict
            else pytest.warns(ArcadeMarkWarning, match="ale-py's environments already exist")
        ):
            arcademark.ale.install(strict)
        assert arcademark.ale.installed() is not strict
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arcademark.ale.install()
    arcademark.ale.uninstall()
    del env


def test_a_name_that_was_imported_is_missed(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ALEInterface", original.ALEInterface, raising=False)
    monkeypatch.setattr(installation.gc, "get_objects", list)
    monkeypatch.setattr(installation.sys, "modules", {__name__: sys.modules[__name__]})
    assert installation._missed() == f"module {__name__!r} already imported ale-py's interface by name"


@pytest.mark.parametrize("make", ["another's", "elsewhere", "named by hand"])
def test_a_folder_that_this_process_did_not_make_stays(make, monkeypatch, tmp_path):
    """Also where a process that another one started uninstalls: that one reports what this one played."""
    folder = tmp_path / {"named by hand": "counts"}.get(make, f"{installation.PREFIX}{os.getpid()}-x")
    if make == "another's":
        folder = Path(tempfile.mkdtemp(prefix=f"{installation.PREFIX}{os.getpid() + 1}-"))
    folder.mkdir(exist_ok=True)
    (folder / "kept").write_text("3 4")
    monkeypatch.setenv(installation.FOLDER, str(folder))
    arcademark.ale.install()
    monkeypatch.setattr(emulators.HERE, "by_ale", emulators.HERE.by_ale + 5)
    installation._end()
    arcademark.ale.uninstall()
    assert installation.FOLDER not in os.environ
    played = noted(str(folder))
    assert (3, 4) in played
    assert len(played) == 2
    shutil.rmtree(folder)


def test_folders_of_killed_programs_are_removed_and_no_others(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv(installation.FOLDER, raising=False)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    old, kill = time.time() - 2 * 86_400, os.kill
    kept = {
        f"{ended.pid}-young": {"moment": old + 86_400 + 60},
        f"{os.getpid()}-lives": {},
        f"{ended.pid}-open": {"mode": 0o750},
        "1-anothers": {},
        "x-none": {},
        f"{2**70}-none": {},
    }
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / f"{installation.PREFIX}{ended.pid}-link").symlink_to(outside)
    for name, how in {f"{ended.pid}-left": {}, **kept}.items():
        folder = tmp_path / f"{installation.PREFIX}{name}"
        folder.mkdir()
        folder.chmod(how.get("mode", 0o700))
        (folder / "1").write_text("3 4")
        os.utime(folder, (old, how.get("moment", old)))
    (tmp_path / f"{installation.PREFIX}{ended.pid}-file").write_text("")

    def asked(process, number):
        if process == 1:
            raise PermissionError
        return kill(process, number)

    monkeypatch.setattr(os, "kill", asked)
    for user in (os.geteuid() + 1, os.geteuid()):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        arcademark.ale.install()
        arcademark.ale.uninstall()
        left = {path.name.removeprefix(installation.PREFIX) for path in tmp_path.iterdir()}
        others = {f"{ended.pid}-left"} if user != os.getuid() else set()
        assert left == {*kept, f"{ended.pid}-link", f"{ended.pid}-file", "outside"} | others


def test_frames_are_written_whole_and_drafts_and_what_is_damaged_do_not_count(monkeypatch, tmp_path):
    monkeypatch.setenv(installation.FOLDER, str(tmp_path))
    for more in (5, 7):
        monkeypatch.setattr(emulators.HERE, "by_ale", emulators.HERE.by_ale + more)
        emulators.HERE.note(now=True)
        if more == 5:
            os.link(*tmp_path.iterdir(), tmp_path / "before")
    (first, second) = sorted(noted(str(tmp_path)))
    assert second[1] - first[1] == 7
    for name, text in {".draft": "5 6", "1": "", "2": "1 2 3", "3": "x y"}.items():
        (tmp_path / name).write_text(text)
    assert sorted(noted(str(tmp_path))) == [first, second]


def test_the_report_at_the_end_passes_over_what_a_killed_process_left():
    code = """
import os, sys, tempfile
folder = os.environ["ARCADEMARK_ALE_FRAMES"] = tempfile.mkdtemp(prefix=f"arcademark-ale-{os.getpid()}-")
for name, text in {"1": "3 4", "2": ""}.items():
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
print(folder, flush=True)
os.execv(sys.executable, [sys.executable, "-c", "pass"])
"""
    done = python("-c", code, cwd=None, PYTHONPATH=installation.STARTUP, ARCADEMARK_ALE="on")
    assert done.stderr == "arcademark.ale: 3 frames on our emulator, 4 on ale-py (1 process)\n"
    assert not os.path.exists(done.stdout.strip())
    done = python("-c", "", cwd=None, PYTHONPATH=installation.STARTUP, ARCADEMARK_ALE="on", ARCADEMARK_ALE_FRAMES="/x")
    assert done.stderr == ""


PROGRAM = """
import hashlib, os, sys
from functools import partial
import gymnasium, numpy as np
import __main__

def make(number, seed):
    import ale_py
    from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
    env = gymnasium.make("BreakoutNoFrameskip-v4" if number % 2 else "ALE/Breakout-v5", frameskip=1)
    env = gymnasium.wrappers.RecordEpisodeStatistics(env)
    return FrameStackObservation(AtariPreprocessing(env), 4)

if __name__ == "__main__":
    assert __main__.make is make and __main__.__spec__ is None
    assert sys.path[0] == os.path.dirname(os.path.abspath(__file__)), sys.path
    assert not [one for one in sys.path if one.endswith("startup")]
    import beside
    seen = hashlib.sha256(repr(sys.argv[1:]).encode())
    for context in sys.argv[1:]:
        envs = gymnasium.vector.AsyncVectorEnv([partial(make, one, 5) for one in range(2)], context=context)
        seen.update(envs.reset(seed=3)[0].tobytes())
        rng = np.random.default_rng(0)
        for _ in range(60):
            for array in envs.step(rng.integers(4, size=2))[:4]:
                seen.update(array.tobytes())
        print(context, seen.hexdigest())
        envs.close()
    sys.exit(7)
"""


def python(*arguments, cwd, **environment):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | environment
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, env=environment)


@pytest.fixture
def program(tmp_path):
    folder = tmp_path / "its folder"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    (folder / "beside.py").write_text("")
    return folder / "train.py"


@pytest.mark.slow
@pytest.mark.parametrize("context", ["fork", "spawn", "forkserver"])
def test_a_program_and_its_processes_learn_the_same(context, program, tmp_path):
    theirs, ours = (python(*how, program, context, cwd=tmp_path) for how in ([], ["-u", "-m", "arcademark.ale"]))
    assert (theirs.returncode, theirs.stdout) == (ours.returncode, ours.stdout), ours.stderr
    assert ours.returncode == 7
    line = ours.stderr.splitlines()[-1]
    assert " on our emulator, 0 on ale-py (2 processes)" in line
    assert int(line.split()[1].replace(",", "")) >= 2 * 60 * 4


@pytest.mark.slow
def test_modules_code_and_what_starts_elsewhere(program, tmp_path):
    """A module and code run as python runs them; another `sitecustomize` runs, too, and strictness is inherited."""
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.chained = True")
    code = """
import subprocess, sys
print(chained, sys.argv, repr(sys.path[0]), "sitecustomize" in sys.modules, __name__)
made = "import ale_py as a; print(chained, type(a.AtariEnv('pong').ale).__module__); a.AtariEnv('pong', sound_obs=True)"
sys.exit(subprocess.run([sys.executable, "-c", made]).returncode)
"""
    there = {"PYTHONPATH": str(tmp_path)}
    done = python("-um", "arcademark.ale", "--strict", "-c", code, "a", "-b", cwd=tmp_path, **there)
    assert done.stdout.splitlines() == [
        "True ['-c', 'a', '-b'] '' True __main__",
        "True arcademark.ale.interface",
    ], done.stderr
    assert done.returncode == 1
    assert "forbids: the setting sound_obs" in done.stderr
    assert done.stderr.splitlines()[-1] == "arcademark.ale: the program did not use ale-py"
    (tmp_path / "unrelated.py").write_text("print(1)")
    done = python("-m", "arcademark.ale", "unrelated.py", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("1\n", "arcademark.ale: the program did not use ale-py\n")
    done = python("-m", "arcademark.ale", "-m", "train", "fork", cwd=program.parent)
    assert "assert __main__.make is make and __main__.__spec__ is None" in done.stderr  # which python -m sets


@pytest.mark.slow
def test_what_is_no_program_is_refused(tmp_path):
    for arguments, code in ((["--help"], 0), ([], 2), (["-u", "train.py"], 2)):
        done = python("-m", "arcademark.ale", *arguments, cwd=tmp_path)
        assert (done.returncode, "usage: python -m arcademark.ale" in done.stdout + done.stderr) == (code, True)
    for program in (["nofile.py"], ["-m", "no_module"], ["."]):
        done = python("-m", "arcademark.ale", *program, cwd=tmp_path)
        assert done.returncode
        assert "did not use" not in done.stderr
    assert "leave these options out" in python("-E", "-m", "arcademark.ale", "x.py", cwd=tmp_path).stderr


@pytest.mark.slow
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_frames_of_programs_in_which_only_other_processes_play(context, tmp_path):
    (tmp_path / "train.py").write_text(
        "import ale_py, multiprocessing, os, sys\n"
        "def play():\n"
        "    env = ale_py.AtariEnv('pong')\n"
        "    env.reset(seed=1)\n"
        "    env.step(0)\n"
        "if __name__ == '__main__':\n"
        "    playing = multiprocessing.get_context(sys.argv[1]).Process(target=play)\n"
        "    playing.start()\n"
        "    playing.join()\n"
        "    print(os.environ['ARCADEMARK_ALE_FRAMES'])\n"
    )
    done = python("-m", "arcademark.ale", "train.py", context, cwd=tmp_path)
    assert re.search(r"[1-9]\d* frames on our emulator, 0 on ale-py \(1 process\)$", done.stderr.strip()), done.stderr
    assert not os.path.exists(done.stdout.strip())


def test_a_program_may_change_its_arguments_and_its_module(monkeypatch):
    monkeypatch.setattr(sys, "argv", [])
    ended = SimpleNamespace(__loader__=SourceFileLoader("__main__", "train.py"))
    known_of = [
        (True, SimpleNamespace(__file__="train.py")),
        (True, ended),
        (False, SimpleNamespace(__loader__=object)),
    ]
    for known, main in known_of:
        monkeypatch.setitem(sys.modules, "__main__", main)
        assert sitecustomize.began() is known
