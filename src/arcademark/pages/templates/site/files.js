// Reads a table of scores that somebody drops on the page, as arcademark.scores.readers reads it: long (algorithm,
// game, score and, where there are several, run) or wide (game × algorithm or algorithm × game). Numbers are plain ones
// with a decimal point; what needs more judgement is refused, in that reader's words. Nothing is sent anywhere.
"use strict";
(() => {
  const MAX_BYTES = 4 * 2 ** 20, MAX_CELLS = 500000, MAX_ALGORITHMS = 50, LARGEST = 2 ** 53, MAX_NAME = 200;
  const ALGORITHM = ["algorithm", "agent", "method", "algo"];
  const TASK = ["task", "game", "env", "env_id", "environment"];
  const SCORE = ["score", "return", "episode_return", "episodic_return", "reward"];
  const RUN = ["run", "seed"];
  const MORE = ["episode", "frames", "frame", "step", "global_step", "timesteps", "iteration"];
  const MISSING = new Set(["", "nan", "na", "n/a", "null", "none", "-", "−", "–", "—"]);
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const WHOLE = /^\d{1,15}$/;
  const ELSEWHERE = "read it with 'arcademark score'";

  class TableError extends Error {}

  /** A table with columns that may be no algorithms: somebody is to say what each is the score of, if of any. */
  class TableQuestion extends Error {
    constructor(columns) {
      super();
      this.columns = columns;
    }
  }

  const fail = (message) => { throw new TableError(message); };
  const quoted = (text) => {
    const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
    return short.includes("'") && !short.includes('"') ? `"${short}"` : `'${short.replaceAll("'", "\\'")}'`;
  };

  /** What is compared of a game's name: `arcademark.suite.tasks.normalised`. */
  function bareName(name) {
    return name.trim()
      .replace(/^(ale_py:|gym(nasium)?:|shimmy:)?(ale[/_:-]|arcademark\/|atari[ _-]*2600[ _:-]*(games[ _:-]*)?|atari(100k)?[/_.: -])?/i, "")
      .replace(/(-ram)?(noframeskip|deterministic)?([-_]v\d+)?(\.bin)?$/i, "")
      .toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  }

  function decoded(bytes, file) {
    if (!bytes.byteLength) fail(`${file}: the file is empty; expected scores, so copy it again or leave it out`);
    if (bytes.byteLength > MAX_BYTES) fail(`${file}: holds more than ${MAX_BYTES.toLocaleString("en")} bytes; give a smaller file, or ${ELSEWHERE}`);
    const start = new Uint8Array(bytes.slice(0, 2));
    const wide = (start[0] === 0xff && start[1] === 0xfe) ? "utf-16le" : (start[0] === 0xfe && start[1] === 0xff) ? "utf-16be" : "";
    const zero = wide ? -1 : new Uint8Array(bytes).indexOf(0);
    if (zero >= 0) fail(`${file}: not a text file (byte ${zero} is zero); expected a table or a log`);
    try {
      return new TextDecoder(wide || "utf-8", { fatal: true }).decode(bytes);
    } catch {
      return fail(`${file}: not UTF-8 text; save it as CSV in UTF-8`);
    }
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
    if (!NUMBER.test(text)) {
      fail(/\d/.test(text) ? `${place}: ${quoted(text)} is no plain number such as 1234.5; write it so, or ${ELSEWHERE}` : `${place}: ${quoted(text)} is no score; expected a number such as 1234.5, or nothing where it is missing`);
    }
    const value = Number(text);
    if (!(Math.abs(value) <= LARGEST)) fail(`${place}: ${quoted(text)} is no score; it is infinite or beyond ±2^53 (${LARGEST}), where whole numbers are no longer exact: correct it`);
    return value;
  }

  /** How many letters two names share in order, by their longest common pieces: Python's difflib. */
  function shared(one, other) {
    let most = 0, from = 0, to = 0;
    for (let i = 0; i < one.length; i++) {
      for (let j = 0; j < other.length; j++) {
        let size = 0;
        while (i + size < one.length && one[i + size] === other[j + size]) size++;
        if (size > most) [most, from, to] = [size, i, j];
      }
    }
    return most && most + shared(one.slice(0, from), other.slice(0, to)) + shared(one.slice(from + most), other.slice(to + most));
  }

  /** Name the closest of some names: `arcademark.errors.UnknownNameError`. */
  function meant(name, known) {
    const near = known.map((other) => [(2 * shared(other, name)) / (other.length + name.length), other]).filter(([close]) => close >= 0.5);
    return near.sort((one, other) => other[0] - one[0]).slice(0, 3).map(([, other]) => `'${other}'`).join(" or ");
  }

  /**
   * Return scores by algorithm, game and run: Map(name → {game: [scores of runs]}). `names` says what columns that may be
   * no algorithms are scores of, "" where of none; without it a `TableQuestion` asks.
   */
  function readTable(bytes, site, file = "the table", names = null) {
    const games = new Map(site.games.flatMap((game) => game.spellings.map((spelling) => [spelling, game.id])));
    const text = decoded(bytes, file);
    const rows = d3.dsvFormat(separatorOf(text)).parseRows(text);
    const header = (rows.shift() || []).map(bare), lowered = header.map((name) => name.toLowerCase());
    const data = rows.map((cells, at) => ({ cells, line: at + 2 })).filter((row) => row.cells.some((cell) => cell.trim()));
    const at = (row, column) => `${file}, row ${row.line}, column ${quoted(header[column])}`;
    if (header.length * data.length > MAX_CELLS) fail(`${file}: holds more than ${MAX_CELLS.toLocaleString("en")} cells; give a smaller table, or ${ELSEWHERE}`);
    if (!data.length) fail(`${file}: there are no rows below the header; expected scores`);
    for (const row of data) {
      if (row.cells.length !== header.length) fail(`${file}, row ${row.line}: ${row.cells.length} cells, expected ${header.length} as in the header; correct or remove the row`);
    }
    const twice = lowered.findIndex((name, column) => name && lowered.indexOf(name) !== column);
    if (twice >= 0) fail(`${file}, row 1, column ${twice + 1}: the column ${quoted(header[twice])} is named twice; name each once`);
    const find = (those) => lowered.findIndex((name) => those.includes(name));
    const game = (name, place) => {
      const found = games.get(bareName(name));
      if (found) return found;
      const close = meant(name.slice(0, 60).toLowerCase(), site.games.map(({ id }) => id));
      return fail(`${place}: unknown game ${quoted(name)}; ${close ? `did you mean ${close}?` : "correct it, or leave its scores out"}`);
    };
    const named = (cell, place) => {
      const name = bare(cell);
      if (!name) fail(`${place}: the cell is empty, expected a name`);
      return name.length > MAX_NAME ? fail(`${place}: the name has more than ${MAX_NAME} characters; shorten it`) : name;
    };
    const found = new Map(), run = find(RUN);
    const add = (algorithm, task, number_, score, row) => {
      if (!found.has(algorithm) && found.size === MAX_ALGORITHMS) fail(`${file}: more than ${MAX_ALGORITHMS} algorithms; leave some out`);
      const own = found.get(algorithm) ?? found.set(algorithm, new Map()).get(algorithm);
      const runs = own.get(task) ?? own.set(task, new Map()).get(task);
      if (runs.has(number_)) fail(`${file}, row ${row.line}: a second score for ${quoted(algorithm)} on ${quoted(task)}, run ${number_} (the first is in row ${runs.get(number_).line}); keep one, or number runs in a column 'run'`);
      runs.set(number_, { score, line: row.line });
    };
    const runOf = (row) => {
      if (run < 0) return "0";
      const cell = row.cells[run].trim();
      return WHOLE.test(cell) ? String(Number(cell)) : fail(`${at(row, run)}: ${quoted(cell)} is no whole number; expected 0, 1, 2, …`);
    };
    const score = find(SCORE), who = find(ALGORITHM), what = find(TASK);
    if (score >= 0 && (who >= 0 || what > 0)) {
      if (who < 0 || what < 0) fail(`${file}, row 1: there is no column '${who < 0 ? "algorithm" : "game"}'; add one`);
      const more = find(MORE);
      if (more >= 0) fail(`${file}, row 1: the column ${quoted(header[more])} makes it a log or a learning curve; ${ELSEWHERE}, or leave only its scores`);
      for (const row of data) add(named(row.cells[who], at(row, who)), game(row.cells[what], at(row, what)), runOf(row), number(row.cells[score], at(row, score)), row);
    } else {
      const columns = header.map((_, column) => column).filter((column) => column && column !== run && lowered[column] !== "protocol");
      if (![...ALGORITHM, ...TASK, ""].includes(lowered[0]) || !columns.length) {
        fail(`${file}, row 1: expected the columns algorithm, game, score (long), or a column of algorithms with a column for each game, or of games with one for each algorithm (wide), not ${quoted(header.slice(0, 12).join(", "))}`);
      }
      const byAlgorithm = lowered[0] ? ALGORITHM.includes(lowered[0]) : columns.every((column) => games.has(bareName(header[column])));
      const asked = byAlgorithm ? [] : columns.filter((column) => site.beside.includes(lowered[column])).map((column) => header[column]);
      if (asked.length && !names) throw new TableQuestion(asked);
      for (const row of data) {
        for (const column of columns) {
          const head = asked.includes(header[column]) ? names.get(header[column]) : header[column];
          if (head === "" && asked.includes(header[column])) continue;
          const [algorithm, task] = byAlgorithm ? [named(row.cells[0], at(row, 0)), game(header[column], `${file}, row 1, column ${quoted(header[column])}`)] : [named(head, `${file}, row 1, column ${column + 1}`), game(row.cells[0], at(row, 0))];
          add(algorithm, task, runOf(row), number(row.cells[column], at(row, column)), row);
        }
      }
    }
    for (const [name, tasks] of found) {
      const kept = [...tasks].map(([task, runs]) => [task, [...runs.values()].map((one) => one.score).filter((value) => value !== null)]);
      found.set(name, Object.fromEntries(kept.filter(([, runs]) => runs.length)));
      if (!Object.keys(found.get(name)).length) found.delete(name);
    }
    return found.size ? found : fail(`${file}: ${names ? "no column that was named holds a score; choose the file again and name one" : "no cell holds a score; expected numbers such as 1234.5"}`);
  }

  Object.assign(arcademark, { readTable, TableError, TableQuestion, MAX_BYTES });
})();
