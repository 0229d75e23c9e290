"""An agent that is a program of its own, in any Python, without ArcadeMark or another package.

arcademark run --agent-command 'python3 examples/agent.py' --games pong --episodes 1 --out runs/program
"""

import json
import random
import sys


def say(message: dict[str, object]) -> None:
    """Send one message."""
    print(json.dumps(message), flush=True)


say({"type": "agent", "version": 1})
hello = json.loads(sys.stdin.readline())
say({"type": "ready", "batch_size": 4, "observations": "bytes"})

generators: dict[int, random.Random] = {}
for line in sys.stdin:
    asked = json.loads(line)
    for row, begins in enumerate(asked["first"]):
        if begins:
            generators[row] = random.Random(asked["seeds"][row])
    rows = range(len(asked["first"]))
    say({"type": "actions", "actions": [generators[row].randrange(hello["action"]["n"]) for row in rows]})
