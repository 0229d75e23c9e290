"""An agent as a separate program, in any Python, without ArcadeMark or another package.

arcademark run --agent-command 'python3 examples/agent.py' --games pong --episodes 1 --out runs/program
"""

import json
import random
import sys


def send(message: dict[str, object]) -> None:
    """Send one message."""
    print(json.dumps(message), flush=True)


send({"type": "agent", "version": 1})
hello = json.loads(sys.stdin.readline())
send({"type": "ready", "batch_size": 4, "observations": "bytes"})

generators: dict[int, random.Random] = {}
for line in sys.stdin:
    request = json.loads(line)
    for row, begins in enumerate(request["first"]):
        if begins:
            generators[row] = random.Random(request["seeds"][row])
    rows = range(len(request["first"]))
    send({"type": "actions", "actions": [generators[row].randrange(hello["action"]["n"]) for row in rows]})
