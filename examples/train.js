// A training program in JavaScript that plays games of ArcadeMark; docs/protocol.md describes what is exchanged.
//
//     node examples/train.js [steps]
//
// It starts "arcademark serve" and tries random actions in two games at once; yours learns from what comes back.

const { spawn } = require("node:child_process");
const readline = require("node:readline");

const steps = Number(process.argv[2] || 1000);
const options = ["--envs", "2", "--protocol", "dqn-2015", "--training", "--seed", "7"];
const server = spawn("arcademark", ["serve", "pong", ...options], { stdio: ["pipe", "pipe", "inherit"] });
server.on("error", (error) => { console.error(error.message); process.exit(1); });
const answers = readline.createInterface({ input: server.stdout })[Symbol.asyncIterator]();

async function ask(message) {
  server.stdin.write(JSON.stringify(message) + "\n");
  const { value, done } = await answers.next();
  if (done) process.exit(1); // it said why on its standard error
  return JSON.parse(value);
}

async function main() {
  const hello = await ask({ type: "client", version: 1, observations: "bytes" });
  let seen = await ask({ type: "reset" });
  let reward = 0;
  for (let i = 0; i < steps; i++) {
    const actions = hello.games.map(() => Math.floor(Math.random() * hello.action.n));
    const given = await ask({ type: "step", actions });
    const pixels = Buffer.from(given.observations, "base64"); // the rows, one after the other
    if (pixels.length !== hello.observation.bytes * hello.games.length) throw new Error("not the observations of " + hello.games);
    for (const each of given.rewards) reward += each;
    for (const { row, score } of given.episodes) console.log(`${hello.games[row]}: ${score} points`);
    seen = given;
  }
  console.log(`${seen.frame_number.join(" and ")} frames, ${reward} reward`);
  server.stdin.end();
}

main();
