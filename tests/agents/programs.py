"""A program that does as an agent what its first argument says, mostly something wrong."""

import json
import os
import random
import subprocess
import sys
import time

KIND = sys.argv[1]


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def flood(descriptor):
    while True:
        os.write(descriptor, b"x" * 65536)


def misbehave(rows):
    match KIND:
        case "count":
            say({"type": "actions", "actions": [0] * (rows + 1)})
        case "range":
            say({"type": "actions", "actions": [99] * rows})
        case "float":
            say({"type": "actions", "actions": [0.5] * rows})
        case "huge":
            say({"type": "actions", "actions": [2**70] * rows})
        case "twice":
            sys.stdout.write('{"type": "actions", "actions": [0]}\n' * 2)
            sys.stdout.flush()
        case "ragged":
            say({"type": "actions", "actions": [[1], [1, 2]]})
        case "other":
            say({"type": "done"})
        case "late":
            time.sleep(1000)
        case "deaf":
            os.close(0)
            time.sleep(1000)
        case "flood":
            flood(1)
        case "errors":
            flood(2)
        case "crash":
            os.kill(os.getpid(), 11)
        case "orphan":
            subprocess.Popen(["sleep", "1000"])
            sys.exit(4)


match KIND:
    case "silent":
        time.sleep(1000)
    case "garbage":
        print("Loading weights", flush=True)
        time.sleep(1000)
    case "dead":
        sys.exit("no GPU\x1b[31m found\n")
    case "newer":
        say({"type": "agent", "version": 2})
        time.sleep(1000)
    case "marker":
        with open(sys.argv[2], "a") as file:
            file.write("started\n")
say({"type": "agent", "version": 1})
hello = json.loads(sys.stdin.readline())
if KIND == "typo":
    say({"type": "ready", "batchsize": 2})
    time.sleep(1000)
if KIND == "refuses":
    say({"type": "error", "message": "no such\nparameter \x1b"})
    time.sleep(1000)
say({"type": "ready"})
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    rows = len(asked["first"])
    if KIND == "plays":  # any task
        if asked["first"][0]:
            chance = random.Random(asked["seeds"][0])
        space, (seen,) = hello["action"], asked["observations"]
        assert set(seen) == set(hello["observation"]["parts"]) if isinstance(seen, dict) else True
        bounds = zip(space["low"], space["high"], strict=True) if space["type"] == "box" else ()
        chosen = [chance.uniform(*ends) for ends in bounds] or chance.randrange(space["n"])
        say({"type": "actions", "actions": [chosen]})
        continue
    if KIND == "family":  # tells who is there
        child = subprocess.Popen(["sleep", "1000"])
        with open(sys.argv[2], "w") as file:
            file.write(f"{os.getpid()} {child.pid}\n")
        time.sleep(1000)
    if number > 1 and KIND != "marker":
        misbehave(rows)
    else:
        say({"type": "actions", "actions": [0] * rows})
