// Reads a table of scores that somebody drops on the page, as arcademark.scores.readers reads it: long (algorithm,
// game, score and, where there are several, run) or wide (game × algorithm or algorithm × game). Numbers are plain ones
// with a decimal point; what needs more judgement is refused, with where it stands. Nothing is sent anywhere.
"use strict";
(() => {
  const MOST_BYTES = 4 * 2 ** 20, MOST_CELLS = 500000, MOST_ALGORITHMS = 50, LARGEST = 2 ** 53, MOST_NAME = 200;
  const ALGORITHM = ["algorithm", "agent", "method", "algo"];
  const TASK = ["task", "game", "env", "env_id", "environment"];
  const SCORE = ["score", "return", "episode_return", "episodic_return", "reward"];
  const RUN = ["run", "seed"];
  const MORE = ["episode", "frames", "frame", "step", "global_step", "timesteps", "iteration"];
  const MISSING = new Set(["", "nan", "na", "n/a", "null", "none", "-", "−", "–", "—"]);
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const WHOLE = /^\d{1,15}$/;
  const ELSEWHERE = "'arcademark score' reads more kinds of tables";

  class TableError extends Error {}

  const fail = (message) => { throw new TableError(message); };

  /** What is compared of a game's name: `arcademark.suite.tasks.normalised`. */
  function bareName(name) {
    return name.trim()
      .replace(/^(ale_py:|gym(nasium)?:|shimmy:)?(ale[/_:-]|arcademark\/|atari[ _-]*2600[ _:-]*(games[ _:-]*)?|atari(100k)?[/_.: -])?/i, "")
      .replace(/(-ram)?(noframeskip|deterministic)?([-_]v\d+)?(\.bin)?$/i, "")
      .toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  }

  function decoded(bytes) {
    if (bytes.byteLength > MOST_BYTES) fail(`the file holds more than ${MOST_BYTES.toLocaleString("en")} bytes; ${ELSEWHERE}`);
    const start = new Uint8Array(bytes.slice(0, 2));
    const wide = (start[0] === 0xff && start[1] === 0xfe) ? "utf-16le" : (start[0] === 0xfe && start[1] === 0xff) ? "utf-16be" : "";
    let text;
    try {
      text = new TextDecoder(wide || "utf-8", { fatal: true }).decode(bytes);
    } catch {
      fail("the file is no text in UTF-8; save the table as CSV");
    }
    if (text.includes("\0")) fail("the file is no text; save the table as CSV");
    return text;
  }

  function separatorOf(text) {
    const start = text.slice(0, 100000).split(/\r?\n/).filter((line) => line.trim()).slice(0, 10).join("\n");
    const widths = [",", "\t", ";"].map((mark) => [mark, d3.dsvFormat(mark).parseRows(start).map((row) => row.length)]);
    const even = widths.filter(([, counts]) => counts[0] > 1 && new Set(counts).size === 1);
    return (even.length ? even : widths).reduce((best, one) => ((one[1][0] || 0) > (best[1][0] || 0) ? one : best))[0];
  }

  /** Cells without the apostrophe that keeps spreadsheets from running them: `arcademark.scores.formulas`. */
  const bare = (cell) => cell.trim().split(/\s+/).join(" ").replace(/^'(?='*[=+\-@\uff1d\uff0b\uff0d\uff20])/, "");

  function number(cell, place) {
    const text = cell.trim();
    if (MISSING.has(text.toLowerCase())) return null;
    if (!NUMBER.test(text)) fail(`${place}: ${quoted(text)} is no plain number such as 1234.5; correct it (${ELSEWHERE})`);
    const value = Number(text);
    if (!(Math.abs(value) <= LARGEST)) fail(`${place}: ${quoted(text)} is beyond ±2^53; correct it`);
    return value;
  }

  const quoted = (text) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

  /** Return scores by algorithm, game and run: Map(name → {game: [scores of runs]}). */
  function readTable(bytes, site) {
    const games = new Map(site.games.flatMap((game) => game.spellings.map((spelling) => [spelling, game.id])));
    const text = decoded(bytes);
    const rows = d3.dsvFormat(separatorOf(text)).parseRows(text);
    const header = (rows.shift() || []).map(bare), lowered = header.map((name) => name.toLowerCase());
    const data = rows.map((cells, at) => ({ cells, line: at + 2 })).filter((row) => row.cells.some((cell) => cell.trim()));
    if (header.length * data.length > MOST_CELLS) fail(`the table has more than ${MOST_CELLS.toLocaleString("en")} cells; ${ELSEWHERE}`);
    if (!data.length) fail("there are no rows below the header; expected scores");
    for (const row of data) {
      if (row.cells.length !== header.length) fail(`row ${row.line}: ${row.cells.length} cells, expected ${header.length} as in the header`);
    }
    const twice = lowered.find((name, at) => name && lowered.indexOf(name) !== at);
    if (twice !== undefined) fail(`the column ${quoted(twice)} is named twice; name each once`);
    const find = (names) => lowered.findIndex((name) => names.includes(name));
    const game = (name, place) => games.get(bareName(name)) ?? fail(`${place}: ${quoted(name)} is no game that is known here; correct its name, or leave its scores out`);
    const named = (cell, place) => {
      const name = bare(cell);
      if (!name) fail(`${place}: the cell is empty, expected a name`);
      return name.length > MOST_NAME ? fail(`${place}: the name has more than ${MOST_NAME} characters; shorten it`) : name;
    };
    const found = new Map(), run = find(RUN);
    const add = (algorithm, task, at, score, place) => {
      if (!found.has(algorithm) && found.size === MOST_ALGORITHMS) fail(`more than ${MOST_ALGORITHMS} algorithms; leave some out`);
      const own = found.get(algorithm) ?? found.set(algorithm, new Map()).get(algorithm);
      const runs = own.get(task) ?? own.set(task, new Map()).get(task);
      if (runs.has(at)) fail(`${place}: a second score of ${quoted(algorithm)} on ${task}${run < 0 ? "; number them in a column 'run'" : " in this run; keep one"}`);
      runs.set(at, score);
    };
    const runOf = (row) => {
      if (run < 0) return "0";
      const cell = row.cells[run].trim();
      return WHOLE.test(cell) ? String(Number(cell)) : fail(`row ${row.line}, column ${quoted(header[run])}: ${quoted(cell)} is no run's number; expected 0, 1, 2, …`);
    };
    const score = find(SCORE), who = find(ALGORITHM), what = find(TASK);
    if (score >= 0 && (who >= 0 || what >= 0)) {
      if (who < 0 || what < 0) fail(`there is no column ${quoted(who < 0 ? "algorithm" : "game")}; add it`);
      const more = find(MORE);
      if (more >= 0) fail(`the column ${quoted(header[more])} makes it a log or a learning curve; ${ELSEWHERE}`);
      for (const row of data) {
        const place = `row ${row.line}`;
        add(named(row.cells[who], place), game(row.cells[what], place), runOf(row), number(row.cells[score], place), place);
      }
    } else {
      const corner = lowered[0];
      const columns = header.map((_, at) => at).filter((at) => at && at !== run && lowered[at] !== "protocol");
      if (![...ALGORITHM, ...TASK, ""].includes(corner) || !columns.length) {
        fail("expected the columns algorithm, game, score, or a first column 'algorithm' or 'game' with a column for each of the others");
      }
      const byAlgorithm = corner ? ALGORITHM.includes(corner) : columns.every((at) => games.has(bareName(header[at])));
      for (const row of data) {
        for (const at of columns) {
          const place = `row ${row.line}, column ${quoted(header[at])}`;
          const [algorithm, task] = byAlgorithm ? [row.cells[0], header[at]] : [header[at], row.cells[0]];
          add(named(algorithm, place), game(task, place), runOf(row), number(row.cells[at], place), place);
        }
      }
    }
    for (const [name, tasks] of found) {
      const kept = [...tasks].map(([task, runs]) => [task, [...runs.values()].filter((value) => value !== null)]);
      found.set(name, Object.fromEntries(kept.filter(([, runs]) => runs.length)));
      if (!Object.keys(found.get(name)).length) found.delete(name);
    }
    return found.size ? found : fail("there is no score in the table");
  }

  Object.assign(arcademark, { readTable, TableError, MOST_BYTES });
})();
