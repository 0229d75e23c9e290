"""Every method of the drop-in and of ale-py under odd arguments, in processes of their own: `make fuzz-dropin` runs it.

    python tests/ale/fuzz_dropin.py [CASES [FIRST]]

A case is one call, the same for both; 20 follow on the same objects. Ours must end as ale-py's does: an equal value,
equal buffers, or an error of the same type. Where ale-py ends the interpreter or never returns, and for what
`DIFFERENT` lists, ours must be an error that the documentation names. A case's number gives the same case each time.
"""

import faulthandler
import hashlib
import importlib
import json
import os
import re
import resource
import select
import signal
import sys
import tempfile
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import ale_py
import gymnasium
import numpy as np

import arcademark.ale
from arcademark.ale import envpool
from arcademark.emulator import build

BLOCK = 20
"""Cases that follow on the same objects."""

GLANCES, GLANCE_SECONDS = 8, 0.1
"""A call never returns whose threads all slept each time that they were looked at, so many times."""

ENDLESS_CPU_SECONDS = {"ale_py": 3.0, "arcademark.ale": 15.0}
"""Nor one that took more processor time."""

MAX_CPU_SECONDS = 3.0
"""Processor time that a call of ours may take, the compiled core being there."""

GAMES = ("pong", "breakout", "montezuma_revenge", "qbert", "adventure")

ROOM = 6 * 2**30
"""Bytes that a process may take beside what it has."""

FAMILIES = (
    *(TypeError, IndexError, KeyError, ValueError, MemoryError, AttributeError, AssertionError, OSError, LookupError),
    *(RuntimeError, SystemError, gymnasium.error.Error),
)

# ---- what is passed


def words(text):
    """Return texts that hold no spaces."""
    return text.split()


WHOLE = words(
    """0 1 2 3 5 17 18 40 127 128 255 256 -1 True False None 2**31-1 2**31 2**32-1 2**32 2**32+1 2**63 2**64 10**30
-2**31 -2**31-1 -2**63-1 1.0 1.5 nan inf 1j '1' b'1' '' np.int8(3) np.uint8(4) np.int64(-1) np.uint64(2**63)
np.float32(1) np.float64(2) np.bool_(True) np.array(1) np.array([1]) np.array([1,2]) np.array(1.0)
np.zeros(0) A.FIRE A.UP A ale_py.LoggerMode.Error Index(3) Index(2**40) BadIndex() Int(3) Float(.5) [] [1]
() (1,) {} object() range(3) Fraction(2) Decimal(2) ale state print np.ma.masked np.datetime64(1,'s') type
memoryview(b'1')"""
)
REAL = words(
    """0.0 1.0 0.5 -1.0 nan inf -inf 1e300 -1e300 1e-300 0 1 True 10**30 10**400 -10**400 None '1' 'nan' b'1' '' 1j
np.float32(.3) np.float64(.7) np.float16(1) np.int64(1) np.bool_(True) np.array(.5) np.array([.5])
np.array([.5,1]) Float(.5) BadFloat() Index(1) Fraction(1,2) Decimal('.5') [] [1.0] {} object() A.FIRE ale
np.longdouble(1)"""
)
FLAG = words(
    """True False 0 1 None '' 'x' np.bool_(True) np.bool_(False) [] object() 1.0 nan Index(1) np.array(True)"""
)
TEXT = words(
    r"""'' 'pong' 'frame_skip' 'random_seed' 'sound' 'cpu' 'display_screen' 'repeat_action_probability' 'reward_min'
'max_num_frames_per_episode' 'truncate_on_loss_of_life' 'nothing' 'a\0b' '\ud800' '\udcff' 'x'*10**5
b'frame_skip' bytearray(b'x') None 5 1.0 Path('x') ['x'] object() np.str_('frame_skip') Text('frame_skip')"""
)
PATHS = words(
    r"""rom(game) str(rom(game)) bytes(rom(game)) rom('warlords') rom('breakout') str(rom(game))+'\0' '' '.' '/'
'/dev/null' '/dev/zero' '/dev/full' '/nowhere' '/nowhere/pong.bin' 'a\0b' '\udcff' '\ud800' 'x'*10**4 None 5
b'' bytearray(b'x') Path('/') [] object() here/'pong.bin' here/'pong'/'pong.bin' here/'qbert.bin'
here/'breakout.bin' here/'fifo' str(here/'fifo') here/'socket' here/'empty.bin' here/'noise.bin'
here/'large.bin' here/'large'/'pong.bin' here/'link.bin' here/'loop' here/'renamed.bin' here/'pong.bin'/'x'
PathLike(rom(game)) PathLike(5) BadPath() '~' 'pong' 'pong.bin' 3.5 Path(str(rom(game)).upper())
str(rom(game)).replace('/','//') here/'short'/'pong.bin'"""
)
PICTURES = words(
    r"""str(here/'x.png') here/'x.png' '' '.' '/' '/dev/null' '/dev/full' '/nowhere/x.png' 'a\0b' '\udcff' '\ud800'
'x'*10**4 None 5 b'' [] object() str(here/'loop') str(here/'x'/'x') str(here) Text('x.png') bytearray(b'x.png')"""
)
"""Where a picture may go: to no file that a later case reads."""

STATES = words(
    """state state system other foreign None 5 b'' b'x' '' object() ale P.ALEState() P.ALEState(state.serialize())
P.ALEState(other.serialize()) P.ALEState(damaged(state)) P.ALEState(damaged(state))
P.ALEState(damaged(state)) P.ALEState.__new__(P.ALEState) P.ALEState [state] state.serialize() forged()
forged() forged() forged()"""
)
BUFFERS = words(
    """bytearray({n}) memoryview(bytearray({n})) memoryview(bytearray({n})).cast('B',{shape})
memoryview(bytearray({n})).toreadonly() memoryview(bytearray(2*{n}))[::2]
memoryview(bytearray({n})).cast('b') memoryview(bytearray({n})).cast('c') array('B',bytes({n}))
array('b',bytes({n})) array('H',bytes(2*{n})) bytes({n}) (ctypes.c_uint8*{n})() (ctypes.c_char*{n})()
(ctypes.c_int8*{n})() mmap(-1,{n}) BytesIO(bytes({n})).getbuffer() bytearray(0) bytearray({n}-1)
bytearray({n}+1) [0]*{n} None 5 '' object() bytearray np.zeros({shape},np.uint8) np.zeros({shape},np.uint8)
np.zeros({shape},np.uint8,order='F') np.zeros({shape},np.int8) np.zeros({shape},np.bool_)
np.zeros({shape},np.int32) np.zeros({shape}) np.zeros({shape},object) np.zeros({shape},'S1')
np.zeros({shape},'V1') np.zeros({shape},[('a','u1')]) np.zeros({shape},np.uint8)[::-1]
np.zeros({shape},np.uint8).T np.zeros({shape}+(1,),np.uint8) np.zeros((1,)+{shape},np.uint8)
np.zeros({shape}+(2,),np.uint8)[...,0] np.zeros({shape}[::-1],np.uint8) np.zeros((0,)+{shape}[1:],np.uint8)
np.zeros((),np.uint8) np.zeros({n},np.uint8) np.zeros({n}-1,np.uint8) np.zeros({n}+1,np.uint8)[1:]
np.frombuffer(bytes({n}),np.uint8).reshape({shape}) np.broadcast_to(np.uint8(0),{shape})
np.ma.zeros({shape},np.uint8) np.zeros({shape},np.uint8).view(np.recarray)
np.zeros({shape},np.uint8).__dlpack__() np.zeros({shape},np.int8).__dlpack__()
Tensor(np.zeros({shape},np.uint8)) Tensor(np.zeros({shape},np.float32))
Tensor(np.frombuffer(bytes({n}),np.uint8).reshape({shape})) Tensor(5) Tensor(None)
Interface(np.zeros({shape},np.uint8)) (5).to_bytes({n},'big')
np.lib.stride_tricks.as_strided(np.zeros(9,np.uint8),{shape},(0,)*{d})
torch.zeros({shape},dtype=torch.uint8) torch.zeros({shape},dtype=torch.int8) torch.zeros({shape})
torch.zeros({shape},dtype=torch.bool) torch.zeros({shape}+(2,),dtype=torch.uint8)[...,0]
torch.zeros({n},dtype=torch.uint8) torch.zeros({shape},dtype=torch.uint8).T
torch.zeros((0,),dtype=torch.uint8) torch.zeros({shape},dtype=torch.uint8,device='meta')
torch.zeros({shape},requires_grad=True) torch.zeros({shape},dtype=torch.uint8).to_sparse()
torch.nn.Parameter(torch.zeros({shape}))"""
)
ACTIONS = words(
    r"""[0,0] [1,0] (0,1) range(2) np.zeros(2,int) np.ones(2,np.int32) np.zeros(2,np.uint8) np.zeros(2,np.int64) [0]
[] [0,0,0] np.zeros(0,int) np.zeros(2) np.zeros(2,bool) np.zeros((2,1),int) np.zeros((2,2),int)
np.zeros((2,0),int) [[0,0]] [[0],[0]] [0,1.0] [0,None] ['0','0'] '00' b'\0\0' bytearray(2) None 5
np.array(0) np.zeros(4,int)[::2] [Index(0),Index(1)] [A.FIRE,A.NOOP] [True,False] {0,1} {0:0,1:1}
deque([0,1]) array('i',[0,1]) memoryview(bytearray(2)) np.zeros(2,'U1') np.zeros(2,object)
np.array([0,2**63],np.uint64) iter([0,1]) np.zeros(2,'M8[s]') np.ma.masked_array([0,0],[1,0])
np.zeros(2,'>i8') [0,2**31] [0,2**64] [-2**31-1,0] np.array([0,2**31]) object() np.array([nan,0])
np.zeros((0,2),int) np.zeros(2,[('a','i8')]) np.matrix([[0,0]]) torch.zeros(2) [0,np.int8(1)]
[np.bool_(1),0]"""
)
SEEDS = [
    *ACTIONS,
    "[-1,-1]",
    "[5,7]",
    "np.array([3,-1])",
    "[2**31-1,0]",
    "[-2**31,1]",
    "[1,0]",
    "[0,0]",
    "[0,2]",
    "[-1,0]",
    "[1]",
]
STRENGTHS = words(
    """[1,1] (1.0,.5) np.ones(2,np.float32) np.ones(2) np.ones(2,int) np.ones(2,np.float16) [nan,inf]
[1e300,-1e300] [1] [] [1,1,1] None 5 1.0 'ab' b'ab' ['1','1'] [None,1] [10**400,1] [1j,1] np.ones((2,1))
np.ones((2,0)) np.ones((2,2)) [[1],[1]] np.ones(4)[::2] [True,False] [Float(1),Float(.5)] range(2) {1,2}
deque([1,1]) array('d',[1,1]) np.ones(2,complex) np.ones(2,bool) np.ones(2,object) np.ones(2,'U1')
np.ones(2,np.longdouble) np.array(1.0) object() torch.ones(2) iter([1,1]) [Fraction(1),1]
np.ma.masked_array([1,1],[1,0])"""
)
STEPS = words(
    """np.zeros(2,int) np.ones(2,np.int32) np.array([1,2]) np.array([0,99]) np.array([-1,0]) np.zeros(2)
np.zeros(3,int) np.zeros((2,1),int) [0,0] None 5 np.zeros(0,int) np.zeros(2,bool) np.zeros(2,np.int8)
np.zeros(2,object) np.array(0) np.zeros(4,int)[::2] np.zeros((2,3),np.float32) np.ones((2,3),np.float32)
np.full((2,3),nan,np.float32) torch.zeros(2,dtype=int) np.array([0,2**40])"""
)
STEP = words(
    """0 1 2 -1 99 None 1.0 nan '1' np.int64(1) np.array(1) np.array([1]) np.array([.5,.5,1],np.float32)
np.zeros(3,np.float32) True np.full(3,nan,np.float32) np.zeros(3) np.bool_(True) A.FIRE 2**64 [1] slice(1)
Index(1) object() torch.tensor(1) {}"""
)
RESETS = words(
    """None 0 1 5 -1 2**31-1 2**31 2**63 2**64 10**40 1.0 nan '1' True np.int64(5) np.array([1,2]) np.array([1,-1])
np.array(1) np.zeros(2) [1,2] (1,2) object() np.array([2**31,0]) np.array([1]) np.zeros((2,1),int) Index(1)"""
)
OPTIONS = words(
    """None {} {'reset_mask':np.array([True,False])} {'reset_mask':np.array([True,True])}
{'reset_mask':np.zeros(2,bool)} {'reset_mask':np.ones(2)} {'reset_mask':[True,True]} {'reset_mask':None}
{'reset_mask':np.ones(3,bool)} {'reset_mask':np.ones((2,1),bool)} {'x':1} 5 'reset_mask' []"""
)
ANY = sorted({*WHOLE, *REAL, *FLAG, *TEXT[:10], "np.zeros(4,np.uint8)", "torch.zeros(2)"})
SCREEN, COLOURS, MEMORY, SOUND = (
    tuple(text.replace("{n}", n).replace("{shape}", shape).replace("{d}", d) for text in BUFFERS)
    for n, shape, d in (
        ("rows*160", "(rows,160)", "2"),
        ("rows*480", "(rows,160,3)", "3"),
        ("128", "(128,)", "1"),
        ("512", "(512,)", "1"),
    )
)

# ---- what is called: the methods of each object, and what their arguments may be

NAMED = {
    "with_truncation": FLAG,
    "include_rng": FLAG,
    "action": WHOLE,
    "paddle_strength": REAL,
    "buffer": MEMORY,
    "arg": WHOLE,
}
INTERFACE = {
    **dict.fromkeys(
        [
            "cloneSystemState",
            "game_truncated",
            "getAudioSize",
            "getAvailableDifficulties",
            "getAvailableModes",
            "getEpisodeFrameNumber",
            "getFrameNumber",
            "getLegalActionSet",
            "getMinimalActionSet",
            "getRAMSize",
            "getScreenDims",
            "lives",
            "reset_game",
        ],
        (),
    ),
    "act": (WHOLE, REAL),
    "cloneState": (FLAG,),
    "game_over": (FLAG,),
    "setRAM": (WHOLE, WHOLE),
    "setMode": (WHOLE,),
    "getAudio": (SOUND,),
    "getRAM": (MEMORY,),
    "getScreen": (SCREEN,),
    "getScreenGrayscale": (SCREEN,),
    "getScreenRGB": (COLOURS,),
    "setDifficulty": (WHOLE,),
    "restoreState": (STATES,),
    "restoreSystemState": (STATES,),
    **{f"get{kind}": (TEXT,) for kind in ("Bool", "Float", "Int", "String")},
    "setBool": (TEXT, FLAG),
    "setInt": (TEXT, WHOLE),
    "setFloat": (TEXT, REAL),
    "setString": (TEXT, TEXT),
    "isSupportedROM": (PATHS,),
    "loadROM": (PATHS,),
    "setLoggerMode": (WHOLE,),
    "saveScreenPNG": (PICTURES,),
}
BUFFERED = ("getRAM", "getScreen", "getScreenGrayscale", "getScreenRGB", "act", "restoreState")
STATE = {
    **dict.fromkeys(("getCurrentMode", "getDifficulty", "getEpisodeFrameNumber", "getFrameNumber", "serialize"), ()),
    "equals": (STATES,),
    "__eq__": (("state", "system", "other"),),
}
ENV = {
    "step": (STEP,),
    "reset": (),
    "render": (),
    "clone_state": (FLAG,),
    "restore_state": (STATES,),
    "close": (),
    "seed_game": (RESETS,),
    "load_game": (),
    "get_action_meanings": (),
    "map_action_idx": (WHOLE, WHOLE, FLAG),
    "get_keys_to_action": (),
    "_get_obs": (),
}
ENVS = {"reset": (), "step": (STEPS,), "send": (STEPS,), "recv": (), "close": ()}
RAW = {
    "reset": (SEEDS, SEEDS),
    "send": (ACTIONS, STRENGTHS),
    "recv": (),
    **dict.fromkeys(("get_action_set", "get_num_envs", "get_observation_shape"), ()),
}
POOL = {"reset": (), "step": (STEPS,), "close": (), "__len__": ()}
SETTINGS = {
    "game": ("'pong'", "'Pong'", "''", "None", "'warlords'", "'a\\0b'", "'../pong'", "'x'*10**5", "5"),
    "mode": WHOLE, "difficulty": WHOLE, "obs_type": ("'rgb'", "'ram'", "'grayscale'", "'x'", "None", "[]"),
    "frameskip": (*WHOLE, "(2,5)", "(5,2)", "(0,1)", "(1,2,3)", "(1.,2.)"), "repeat_action_probability": REAL,
    "full_action_space": FLAG, "continuous": FLAG, "continuous_action_threshold": REAL,
    "max_num_frames_per_episode": WHOLE,
    "render_mode": ("None", "'rgb_array'", "'x'", "5", "[]"), "sound_obs": FLAG, "nothing": WHOLE,
}  # fmt: skip
SIZES = words("""1 84 0 -1 210 160 211 300 2**31-1 2**31 2**64 1.0 None True 10**6 nan 'x'""")
FEW = words("""1 2 3 0 -1 -2**31 2**31-1 2**31 2**64 10**6 1.0 2.5 None True nan '2' Index(2) []""")
MODES = words("""'NextStep' 'SameStep' 'Disabled' 'x' None 5 gymnasium.vector.AutoresetMode.SAME_STEP ''""")
VECTORS = {
    "num_envs": FEW,
    "batch_size": FEW,
    "num_threads": FEW,
    "thread_affinity_offset": FEW,
    "stack_num": FEW,
    "img_height": SIZES,
    "img_width": SIZES,
    "noop_max": FEW,
    "repeat_action_probability": REAL,
    "autoreset_mode": MODES,
    **dict.fromkeys(
        ["grayscale", "maxpool", "episodic_life", "life_loss_info", "reward_clipping", "use_fire_reset"], FLAG
    ),
    "full_action_space": FLAG,
    "nothing": WHOLE,
}
WRAPPED = {"game": SETTINGS["game"], "frameskip": FEW, "max_num_frames_per_episode": FEW, "continuous": FLAG, **VECTORS}
BARE = {"rom_path": PATHS, "frame_skip": FEW, "max_episode_steps": FEW, **VECTORS}
POOLS = {
    "num_envs": FEW,
    "batch_size": FEW,
    "num_threads": FEW,
    "thread_affinity_offset": FEW,
    "seed": WHOLE,
    "stack_num": FEW,
    "max_episode_steps": FEW,
    "frame_skip": FEW,
    "noop_max": FEW,
    "img_height": SIZES,
    "img_width": SIZES,
    "mode": WHOLE,
    "difficulty": WHOLE,
    "repeat_action_probability": REAL,
    "nothing": WHOLE,
    "env_type": (*TEXT, "'gym'", "'gymnasium'"),
    **dict.fromkeys(
        ["episodic_life", "reward_clip", "use_fire_reset", "full_action_space", "gray_scale", "gym_reset_return_info"],
        FLAG,
    ),
}
KEYS = (
    ("Int", ("frame_skip", "max_num_frames_per_episode", "max_num_frames", "paddle_min", "reward_max"), WHOLE),
    ("Float", ("repeat_action_probability",), REAL),
    ("Bool", ("sound_obs", "color_averaging", "truncate_on_loss_of_life"), FLAG),
    ("String", ("cpu", "palette", "rom_file"), TEXT),
)
OBJECTS = {
    "ale": INTERFACE,
    "empty": INTERFACE,
    "silent": INTERFACE,
    "state": STATE,
    "env": ENV,
    "envs": ENVS,
    "raw": RAW,
    "left": RAW,
    "pool": POOL,
}
MAKERS = {
    "P.AtariEnv": ({"game": "'pong'"}, SETTINGS),
    "P.AtariVectorEnv": ({"game": "'pong'", "num_envs": "1"}, WRAPPED),
    "P.ALEVectorInterface": ({"rom_path": "rom('pong')", "num_envs": "1"}, BARE),
    "envpool.make": ({"task_id": "'Pong-v5'", "num_envs": "1"}, POOLS),
    "P.ALEState": ({}, {}),
    "settings": ({}, {}),
}
SUBJECTS = (
    *(
        "ale",
        "raw",
        "P.ALEVectorInterface",
        "env",
        "ale",
        "empty",
        "pool",
        "envs",
        "ale",
        "P.AtariEnv",
        "silent",
        "raw",
    ),
    *(
        "ale",
        "state",
        "envpool.make",
        "left",
        "ale",
        "P.AtariVectorEnv",
        "env",
        "envs",
        "ale",
        "P.ALEState",
        "settings",
    ),
    *("raw", "pool", "ale", "silent", "ale", "env", "raw", "ale", "state", "pool", "ale", "envs", "silent", "ale"),
)
"""What the blocks of cases are about, in turn."""

OURS_ALONE = ("pool", "envpool.make")
"""ale-py has no such thing: these must give a value or our error."""

DIFFERENT = (
    (r"\.saveScreenPNG\(", "value", "ArcadeMarkError", "ale-py writes nothing and says nothing where it cannot write"),
    (r"\.getAudio\(", "value", "ArcadeMarkError", "our emulator has no sound; ale-py gives silence"),
    (r"^empty\.getRAMSize\(", "value", "ArcadeMarkError", "without a ROM nothing is known"),
    (r"\.(send|step)\(", "value", "IndexError", "actions that there are not are refused"),
    (r"\.map_action_idx\(.*(state|system|other)", "TypeError", "LookupError", "== compares with anything in Python"),
    (r"\.__eq__\(", "TypeError", "value", "== compares with anything in Python"),
    (
        r"(loadROM|isSupportedROM|rom_path=|ALEVectorInterface).*(\\0|/dev/|socket|'')",
        "value",
        "ArcadeMarkError",
        "no file, or no regular one",
    ),
    (r"P\.ALEState\(.*,", "value", "TypeError", "only of a state of ale-py's another is made so"),
    (r"P\.ALEState\(", "value", "ArcadeMarkError", "a damaged state is refused, not read in part"),
    (r"\.restore.*(damaged|forged)", "value", "ArcadeMarkError", "a damaged state is refused, not read in part"),
    (r"(damaged|forged)", "SystemError", "value", "what is damaged is each emulator's own"),
    (
        r"\.restore.*(foreign|P\.ALEState\(\)|__new__)",
        "SystemError",
        "ArcadeMarkError",
        "states are each emulator's own",
    ),
    (r"^(raw|left|envs)\.(send|recv|step|reset)\(", "value", "ArcadeMarkError", "calls out of order are refused"),
    (r"(P\.AtariVectorEnv|P\.ALEVectorInterface)\(.*", "value", "ArcadeMarkError", "sizes are bounded"),
)
"""Calls, what ale-py does, what ours does, and why."""


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class BadIndex:
    def __index__(self):
        raise ZeroDivisionError


class Int(Index):
    __index__ = None

    def __int__(self):
        return self.value


class Float(Index):
    __index__ = None

    def __float__(self):
        return float(self.value)


class BadFloat:
    def __float__(self):
        raise ZeroDivisionError


class Text(str):
    __slots__ = ()


class PathLike(Index):
    __index__ = None

    def __fspath__(self):
        return str(self.value) if isinstance(self.value, Path) else self.value


class BadPath:
    def __fspath__(self):
        raise ZeroDivisionError


class Tensor(Index):
    """Something that knows DLPack only."""

    __index__ = None

    def __dlpack__(self, **how):
        return self.value.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.value.__dlpack_device__()


class Interface(Index):
    """Something that knows numpy's protocol only."""

    __index__ = None

    @property
    def __array_interface__(self):
        return self.value.__array_interface__


# ---- one process


class Names(dict):
    """What the texts of a block of cases may name, each made when it is used first."""

    def __init__(self, package, folder, block):
        chance = np.random.default_rng(block)
        self.chance, self.package = chance, package
        game = GAMES[chance.integers(len(GAMES))]
        super().__init__(
            **{
                kind.__name__: kind
                for kind in (Index, BadIndex, Int, Float, BadFloat, Text, PathLike, BadPath, Tensor, Interface)
            },
            **{name: importlib.import_module(name) for name in ("ctypes", "ale_py", "gymnasium")},
            np=np,
            P=package,
            Path=Path,
            nan=float("nan"),
            inf=float("inf"),
            A=ale_py.Action,
            game=game,
            here=folder,
            rom=lambda game: folder / "roms" / f"{game}.bin",  # copies, whatever is done to them
            envpool=envpool,
            damaged=self.damaged,
            forged=self.forged,
            settle=self.settle,
            configured=self.configured,
        )
        self.settings = chance.integers(2**32, size=4).tolist()
        self.base = "silent" if SUBJECTS[block % len(SUBJECTS)] == "silent" else "ale"

    def __missing__(self, name):
        makers = {
            "ale": self.loaded,
            "empty": self.package.ALEInterface,
            "env": self.env,
            "envs": self.envs,
            "raw": self.raw,
            "silent": lambda: self.loaded("pong", sound_obs=True),
            "left": lambda: self.raw("adventure"),
            "state": lambda: self[self.base].cloneState(),
            "system": lambda: self[self.base].cloneState(include_rng=True),
            "other": lambda: self.loaded("freeway").cloneState(),
            "rows": lambda: self[self.base].getScreenDims()[0],
            "foreign": self.foreign,
            "pool": lambda: envpool.make("Pong-v5", num_envs=2),
            "torch": lambda: importlib.import_module("torch"),
            "array": lambda: importlib.import_module("array").array,
            "mmap": lambda: importlib.import_module("mmap").mmap,
            "BytesIO": lambda: importlib.import_module("io").BytesIO,
            "Fraction": lambda: importlib.import_module("fractions").Fraction,
            "Decimal": lambda: importlib.import_module("decimal").Decimal,
            "deque": lambda: importlib.import_module("collections").deque,
        }
        if name not in makers:
            raise KeyError(name)
        self[name] = made = makers[name]()
        return made

    def loaded(self, game=None, **settings):
        ale = self.package.ALEInterface()
        ale.setInt("random_seed", self.settings[0] % 2**31)
        ale.setInt("frame_skip", 1 + self.settings[1] % 3)
        ale.setFloat("repeat_action_probability", (0.0, 0.25)[self.settings[2] % 2])
        for name, value in settings.items():
            ale.setBool(name, value)
        ale.loadROM(ale_py.roms.get_rom_path(game or self["game"]))
        return ale

    def env(self):
        kinds = {}, {"continuous": True}, {"obs_type": "ram"}, {"render_mode": "rgb_array"}
        env = self.package.AtariEnv("pong", **kinds[self.settings[3] % 4])
        env.reset(seed=1)
        return env

    def envs(self):
        envs = self.package.AtariVectorEnv("pong", 2, num_threads=1, continuous=self.settings[3] % 4 == 0)
        envs.reset(seed=1)
        return envs

    def raw(self, game="pong"):
        path = ale_py.roms.get_rom_path(game)
        raw = self.package.ALEVectorInterface(path, 2, batch_size=2, num_threads=1, noop_max=3)
        if self.settings[3] % 4:
            raw.reset([0, 1], [1, 2])
        return raw

    def foreign(self):
        other = ale_py if self.package is arcademark.ale else arcademark.ale
        ale = other.ALEInterface()
        ale.loadROM(ale_py.roms.get_rom_path(self["game"]))
        return ale.cloneState()

    def damaged(self, state):
        """Return a serialised state, changed at random: not comparable, as each emulator's are its own."""
        text, chance = bytearray(state.serialize()), self.chance
        for _ in range(chance.integers(1, 4)):
            at, kind = chance.integers(len(text)), chance.integers(5)
            if kind == 0:
                del text[at:]
            elif kind == 1:
                text[at] ^= 1 << chance.integers(8)
            elif kind == 2:
                text[at : at + 8] = chance.bytes(8)
            elif kind == 3:
                text[at : at + 4] = b"\xff" * 4
            else:
                text += chance.bytes(9)
            text = text or bytearray(b"x")
        return bytes(text)

    def forged(self):
        """Return a state of ours whose fields anyone may have written; of ale-py's, a damaged one."""
        state, chance = self["system"], self.chance
        if not isinstance(state, arcademark.ale.ALEState):
            return self.package.ALEState(self.damaged(state))
        saved, changes = state._saved, {}
        numbers = (0, -1, 1, 2**27, 2**31, 2**32, 2**63 - 1, -(2**63), 77)
        for field in chance.choice(saved.__struct_fields__, size=chance.integers(1, 4), replace=False):
            value = getattr(saved, field)
            if isinstance(value, int):
                changes[field] = numbers[chance.integers(len(numbers))]
            elif isinstance(value, bytes):
                text = np.frombuffer(value, np.uint8).copy()
                hit = chance.random(len(text)) < chance.choice((0.01, 0.3, 1.0))
                text[hit] = chance.integers(256, size=hit.sum())
                changes[field] = text.tobytes()
            else:
                changes[field] = "freeway"
        return arcademark.ale.ALEState(
            arcademark.ale.ALEState._of(
                type(saved)(**{name: getattr(saved, name) for name in saved.__struct_fields__} | changes)
            ).serialize()
        )

    def settle(self):
        """Play on after what was done, so that damage would show."""
        ale = self[self.base]
        for action in range(6):
            ale.act(action)
        ale.reset_game()
        return ale.getRAM(), ale.getScreen()

    def configured(self, kind, key, value):
        """Play with a setting."""
        ale = self.package.ALEInterface()
        ale.setInt("random_seed", 3)
        getattr(ale, f"set{kind}")(key, value)
        ale.loadROM(ale_py.roms.get_rom_path(self["game"]))
        rewards = [ale.act(action) for action in (1, 3, 3, 4, 4, 1)]
        return rewards, ale.getRAM(), ale.getScreen(), ale.getFrameNumber(), ale.game_over()


def digest(text):
    return hashlib.sha256(text).hexdigest()[:12]


def shown(value):
    """Return a value as what can be compared and sent."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), digest(value.tobytes())]
    if isinstance(value, np.generic):
        return [str(value.dtype), repr(value.item())]
    if isinstance(value, ale_py.Action):
        return value.name
    if hasattr(value, "getEpisodeFrameNumber") and hasattr(value, "serialize"):
        return [
            "state",
            value.getFrameNumber(),
            value.getEpisodeFrameNumber(),
            value.getCurrentMode(),
            value.getDifficulty(),
        ]
    if hasattr(value, "get_num_envs"):
        return ["vector", value.get_num_envs(), list(value.get_observation_shape())]
    if isinstance(value, dict):
        return {repr(shown(key)): shown(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [shown(one) for one in value]
    if isinstance(value, bytes):
        return "bytes"  # serialised states are each emulator's own
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    return type(value).__name__


def contents(argument):
    """Return what an argument holds after the call, if something could be written into it."""
    try:
        if isinstance(argument, bytes):
            return None
        if hasattr(argument, "numpy"):
            argument = argument.detach().numpy()
        view = argument.value if isinstance(argument, Tensor | Interface) else argument
        return digest(memoryview(view).tobytes())
    except Exception:
        return None


def outcome(call, names):
    """Return how a call ends: a value and what buffers hold, or an error's types and text."""
    receiver, arguments, named = call
    try:
        values = [eval(text, {}, names) for text in arguments]  # noqa: S307 - our own texts
        others = {key: eval(text, {}, names) for key, text in named.items()}  # noqa: S307
        function = eval(receiver, {}, names)  # noqa: S307
    except Exception as error:
        return ["error", *kinds(error), f"arguments: {error}"[:200]]
    try:
        value = shown(function(*values, **others))
        if receiver.startswith(("ale.restore", "silent.restore")) and re.search("damaged|forged", str(arguments)):
            names.settle()
    except Exception as error:
        return ["error", *kinds(error), str(error)[:200]]
    return ["value", value, [contents(one) for one in (*values, *others.values())]]


def kinds(error):
    """Return an error's family, and whether it is ours."""
    family = next((kind.__name__ for kind in FAMILIES if isinstance(error, kind)), type(error).__name__)
    ours = "ArcadeMarkError" in [kind.__name__ for kind in type(error).__mro__]
    return family if family != type(error).__name__ or not ours else "ArcadeMarkError", ours


def serve(package, folder, given, results):
    """Play the cases that the parent sends, and send how they end."""
    warnings.simplefilter("ignore")
    faulthandler.disable()  # dying is an outcome here
    silence = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(silence, descriptor)
    own = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (own + ROOM, own + ROOM))
    os.chdir(folder)
    names = None
    with os.fdopen(given) as lines, os.fdopen(results, "w") as out:
        for line in lines:
            number, fresh = json.loads(line)
            if fresh or names is None:
                names = None
                names = Names(package, folder, number // BLOCK)
            before = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
            ended = outcome(case(number), names)
            print(
                json.dumps([*ended, sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - before]), file=out, flush=True
            )


def used(pid):
    """Return a process's seconds of processor time, and whether all of its threads sleep."""
    try:
        fields = [path.read_text().rpartition(")")[2].split() for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    except OSError:  # a thread has ended just now
        return 0.0, False
    ticks = sum(int(one[11]) + int(one[12]) for one in fields)
    return ticks / os.sysconf("SC_CLK_TCK"), all(one[0] == "S" for one in fields)


class Child:
    """A process that plays cases, begun anew when it has died."""

    def __init__(self, package, folder):
        self.package, self.folder, self.pid = package, folder, 0

    def ask(self, number, fresh):
        """Begin a case; what it gives is in `answer`."""
        if not self.pid:
            fresh = True
            (theirs, self.to), (self.results, back) = os.pipe(), os.pipe()
            self.pid = os.fork()
            if not self.pid:
                try:
                    os.close(self.to)
                    os.close(self.results)
                    serve(self.package, self.folder, theirs, back)
                finally:
                    os._exit(0)
            os.close(theirs)
            os.close(back)
        os.write(self.to, json.dumps([number, fresh]).encode() + b"\n")
        self.before, self.slept = used(self.pid)[0], 0

    def answer(self):
        text = b""
        while not text.endswith(b"\n"):
            if not select.select([self.results], [], [], GLANCE_SECONDS)[0]:
                seconds, asleep = used(self.pid)
                self.slept = asleep and self.slept + 1
                if self.slept < GLANCES and seconds - self.before < ENDLESS_CPU_SECONDS[self.package.__name__]:
                    continue
                self.close()
                return ["hangs"]
            part = os.read(self.results, 1 << 16)
            if not part:
                _, status = os.waitpid(self.pid, 0)
                self.pid = 0
                os.close(self.to)
                os.close(self.results)
                return ["dies", status]
            text += part
        return json.loads(text)

    def close(self):
        """End the process."""
        if not self.pid:
            return
        for descriptor in (self.to, self.results):
            os.close(descriptor)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.pid = 0


# ---- cases


def case(number):
    """Return a case: what is called, its arguments, and those with names; all as texts."""
    chance, name = np.random.default_rng([number, 1]), SUBJECTS[number // BLOCK % len(SUBJECTS)]
    pick = lambda texts: texts[chance.integers(len(texts))]  # noqa: E731
    if name == "P.ALEState":
        texts = [pick(["state.serialize()", "damaged(state)", "b''", "b'x'", "b'\\xff'*100", *STATES, *WHOLE])]
        return name, texts * (chance.random() < 0.95) + [pick(STATES)] * (chance.random() < 0.1), {}
    if name == "settings":
        kind, keys, values = pick(KEYS)
        return "configured", [repr(kind), repr(pick(keys)), pick(values)], {}
    if name in ("ale", "silent") and number % BLOCK in (BLOCK // 2, BLOCK - 1):
        return "settle", [], {}
    if name in MAKERS:
        needed, known = MAKERS[name]
        named = dict(needed)
        for _ in range(chance.integers(1, 4)) if known else ():
            key = pick([*known])
            named[key] = pick(known[key]) if chance.random() < 0.9 else pick(ANY)
        return name, [], named
    methods = OBJECTS[name]
    method = pick([*methods, *(BUFFERED if methods is INTERFACE else ())])
    if method == "recv" and chance.random() < 0.7:
        method = "send" if "send" in methods else method
    arguments = [pick(texts) if chance.random() < 0.9 else pick(ANY) for texts in methods[method]]
    if chance.random() < 0.15 and arguments:
        arguments = arguments[:-1]
    if chance.random() < 0.04:
        arguments.append(pick(ANY))
    if method == "seed_game" and arguments in ([], ["None"]):  # at random
        arguments = ["7"]
    named = {}
    if method == "reset" and name in ("env", "envs"):
        named = {key: pick(texts) for key, texts in (("seed", RESETS), ("options", OPTIONS)) if chance.random() < 0.6}
    elif name == "pool" and chance.random() < 0.4:
        named = {"env_id": pick(SEEDS)}
    elif chance.random() < 0.05:
        key = pick([*NAMED])
        named, arguments = {key: pick(NAMED[key])}, arguments[:-1]
    return f"{name}.{method}", arguments, named


def text(call):
    receiver, arguments, named = call
    return f"{receiver}({', '.join((*arguments, *(f'{key}={value}' for key, value in named.items())))})"


def fault(call, theirs, ours):
    """Return what is wrong with how ours ends, None if nothing is."""
    if ours[0] in ("dies", "hangs"):
        return f"ours {ours[0]}"
    if ours[-1] > MAX_CPU_SECONDS:
        return f"ours takes {ours[-1]:.1f} s of processor time"
    if theirs is None:
        python = ours[0] == "error" and re.search("argument", ours[3])
        return None if ours[0] == "value" or ours[2] or python else "an error that is not ours"
    if theirs[0] == "error" and theirs[3].startswith("arguments:"):
        return None  # ale-py was not called
    if theirs[0] == "hangs" or (theirs[0] == "dies" and ours[0] == "error"):
        return None
    if theirs[0] == ours[0] == "value":
        return None if theirs[1:3] == ours[1:3] else "another value"
    if theirs[0] == ours[0] == "error" and (theirs[1] == ours[1] or ours[2]):
        return None
    them, us = ("value" if one[0] == "value" else one[1] if one[0] == "error" else one[0] for one in (theirs, ours))
    us = "ArcadeMarkError" if ours[0] == "error" and ours[2] else us
    for pattern, them_too, us_too, _ in DIFFERENT:
        if re.search(pattern, text(call)) and (them_too, us_too) == (them, us):
            return None
    return f"{us}, not {them}"


def files(folder):
    """Write the files that cases name."""
    chance = np.random.default_rng(0)
    for name, content in (
        *(("pong.bin", chance.bytes(2048)), ("pong/pong.bin", chance.bytes(2048)), ("qbert.bin", chance.bytes(4096))),
        *(("empty.bin", b""), ("noise.bin", chance.bytes(4096)), ("short/pong.bin", chance.bytes(100))),
        *(("large.bin", bytes(40 * 2**20)), ("large/pong.bin", bytes(40 * 2**20))),
        ("renamed.bin", ale_py.roms.get_rom_path("pong").read_bytes()),
        ("breakout.bin", ale_py.roms.get_rom_path("breakout").read_bytes()[:-1] + b"\x01"),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    for game in (*GAMES, "warlords"):
        (folder / "roms").mkdir(exist_ok=True)
        (folder / "roms" / f"{game}.bin").write_bytes(ale_py.roms.get_rom_path(game).read_bytes())
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to("loop")
    (folder / "link.bin").symlink_to("renamed.bin")
    os.mknod(folder / "socket", 0o600 | 0o140000)


def run(first, count, report=print):
    """Play cases, and return the faults; where ale-py differs deliberately, the next begins with fresh objects."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    faults, counts = [], Counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        files(folder)
        theirs, ours = Child(ale_py, folder), Child(arcademark.ale, folder)
        try:
            fresh, sent = True, False
            for number in range(first, first + count):
                call = case(number)
                if "torch" in text(call) and "torch" not in sys.modules:
                    continue
                alone = call[0].partition(".")[0] in OURS_ALONE or call[0] in OURS_ALONE
                fresh = fresh or number % BLOCK == 0
                for child in (ours,) if alone else (theirs, ours):
                    child.ask(number, fresh)
                their, our = None if alone else theirs.answer(), ours.answer()
                forgotten = sent and call[0].endswith(".reset")  # ours forgets the step, ale-py hands it out in place
                wrong = None if forgotten and our[0] == "value" else fault(call, their, our)
                if (our[0] == "value" and call[0].endswith((".send", ".recv", ".step", ".reset"))) or fresh:
                    sent = our[0] == "value" and call[0].endswith(".send")
                damaged = re.search("damaged|forged", text(call))
                damaged = damaged or ("restore" in call[0] and our[0] == "error")  # of which ale-py restored a part
                fresh = bool(wrong or damaged) or forgotten or (their is not None and their[0] != our[0])
                counts[("alone" if their is None else their[0], our[0])] += 1
                if wrong:
                    faults.append(f"{number}: {text(call)}: {wrong}\n    theirs {their}\n    ours   {our}")
                    report(faults[-1])
        finally:
            theirs.close()
            ours.close()
    return faults, counts


def main(count, first=0):
    """Play cases, report faults, and exit with 1 if there are any."""
    if build.compiler() is None:
        sys.exit("no C compiler")
    build.core()
    envpool.make("Pong-v5").reset()  # compiles what the processes then have
    if find_spec("torch"):
        importlib.import_module("torch")
    faults, counts = run(first, count, lambda line: print(line, flush=True))
    for (them, us), number in sorted(counts.items()):
        print(f"{number:6,} cases: ale-py {them}, ours {us}")
    print(f"{count:,} cases, {len(faults):,} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or ["20000"]))
