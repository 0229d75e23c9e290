// A training program in JavaScript that plays games or other tasks of ArcadeMark; docs/messages.md describes the messages.
//
//     node examples/train.js [steps] [arguments of "arcademark serve"]
//     node examples/train.js 1000 cartpole_v1 --suite gymnasium:CartPole-v1 --envs 2
//
// It starts "arcademark serve" and plays random actions, by default in two games of Pong at once; yours learns from
// the answers.

const { spawn } = require("node:child_process");
const readline = require("node:readline");

const steps = Number(process.argv[2] || 1000);
const played = process.argv.length > 3 ? process.argv.slice(3) : ["pong", "--envs", "2", "--protocol", "dqn-2015"];
const server = spawn("arcademark", ["serve", ...played, "--training", "--seed", "7"], { stdio: ["pipe", "pipe", "inherit"] });
server.on("error", (error) => { console.error(error.message); process.exit(1); });
const answers = readline.createInterface({ input: server.stdout })[Symbol.asyncIterator]();

async function ask(message) {
  server.stdin.write(JSON.stringify(message) + "\n");
  const { value, done } = await answers.next();
  if (done) process.exit(1); // the server wrote the reason to standard error
  return JSON.parse(value);
}

async function main() {
  const hello = await ask({ type: "client", version: 1, observations: "bytes" });
  let seen = await ask({ type: "reset" });
  let reward = 0;
  for (let i = 0; i < steps; i++) {
    const actions = hello.games.map(() => Math.floor(Math.random() * hello.action.n));
    const given = await ask({ type: "step", actions });
    const rows = Buffer.from(given.observations, "base64"); // one after the other
    if (rows.length !== hello.observation.bytes * hello.games.length) throw new Error("not the observations of " + hello.games);
    for (const each of given.rewards) reward += each;
    for (const { row, score } of given.episodes) console.log(`${hello.games[row]}: ${score} points`);
    seen = given;
  }
  console.log(`${seen.frame_number.join(" and ")} ${hello.unit}s, ${reward} reward`);
  server.stdin.end();
}

main();
