// A learner in JavaScript: it learns which action is best regardless of the screen, and mostly takes that one.
//
//     arcademark run --agent-command 'node examples/agent.js' --set exploration=0.2 --games pong --training-episodes 3
//
// It answers each line of JSON with another; docs/messages.md describes them. It does the same as my_learner.py.

const lines = require("node:readline").createInterface({ input: process.stdin });
const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");

let values = []; // the running mean of the reward after each action
let options = { step_size: 0.05, exploration: 0.1 };
let training = false;
const states = []; // of the generator of each episode in play

function random(row) { // a number from 0 to 1, the next of a generator with the episode's seed
  states[row] = (Math.imul(states[row], 1664525) + 1013904223) >>> 0;
  return states[row] / 2 ** 32;
}

function choose(row) {
  if (training && random(row) < options.exploration) return Math.floor(random(row) * values.length);
  return values.indexOf(Math.max(...values));
}

const answers = {
  hello(message) {
    values = new Array(message.action.n).fill(0);
    options = { ...options, ...message.parameters };
    return { type: "ready", learns: true, observations: "bytes" };
  },
  train() {
    training = true;
    return { type: "done" };
  },
  evaluate() {
    training = false;
    return { type: "done" };
  },
  act({ first, seeds }) {
    first.forEach((begins, row) => { if (begins) states[row] = seeds[row]; });
    return { type: "actions", actions: first.map((_, row) => choose(row)) };
  },
  learn({ action, reward }) {
    values[action] += options.step_size * (reward - values[action]);
    return { type: "done" };
  },
  checkpoint() {
    return { type: "checkpoint", data: Buffer.from(JSON.stringify(values)).toString("base64") };
  },
  restore({ data }) {
    values = JSON.parse(Buffer.from(data, "base64"));
    return { type: "done" };
  },
};

send({ type: "agent", version: 1 });
lines.on("line", (line) => {
  const message = JSON.parse(line);
  send(answers[message.type](message));
});
