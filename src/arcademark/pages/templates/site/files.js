// Reads a table of scores that somebody drops on the page, as arcademark.scores.readers reads it: long (algorithm,
// game, score and, where there are several, run) or wide (game × algorithm or algorithm × game), by the same rules of what
// names of columns say. Numbers are plain ones
// with a decimal point; what needs more judgement is refused, in that reader's words. Nothing is sent anywhere.
"use strict";
(() => {
  const MAX_BYTES = 4 * 2 ** 20, MAX_CELLS = 500000, MAX_ALGORITHMS = 50, LARGEST = 2 ** 53, MAX_NAME = 200;
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const WHOLE = /^\d{1,15}$/;
  const ELSEWHERE = "read it with 'arcademark report'";

  class TableError extends Error {}

  /** A table with columns that may be no algorithms: somebody is to say what each is the score of, if of any. */
  class TableQuestion extends Error {
    constructor(columns, question) {
      super(question);
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
      .replace(/(-ram)?(noframeskip|deterministic)?([-_]v\d+)?(\.(bin|a26|rom))?$/i, "")
      .toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  }

  function decoded(bytes, file) {
    if (!bytes.byteLength) fail(`${file}: the file is empty; expected scores, so copy it again or leave it out`);
    if (bytes.byteLength > MAX_BYTES) fail(`${file}: holds more than ${MAX_BYTES.toLocaleString("en")} bytes; give a smaller file, or ${ELSEWHERE}`);
    const start = new Uint8Array(bytes.slice(0, 2));
    const wide = (start[0] === 0xff && start[1] === 0xfe) ? "utf-16le" : (start[0] === 0xfe && start[1] === 0xff) ? "utf-16be" : "";
    const zero = wide ? -1 : new Uint8Array(bytes).indexOf(0);
    if (zero >= 0) fail(`${file}: not a text file (byte ${zero} is zero); expected a table or a log: unpack it, or save it as CSV in UTF-8`);
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

  /** Roles of columns by their names, as in `arcademark.scores.readers.words.column_names`; rules are in `site.rules`. */
  function rolesBy({ names, words, sure, means, cited, rows, settings, patterns, questions, scores }) {
    const whole = Object.fromEntries(Object.entries(patterns).map(([name, pattern]) => [name, new RegExp(`^(?:${pattern})$`, "iu")]));
    const prefix = new RegExp(`^(?:${patterns.prefix})`, "iu"), scale = new RegExp(patterns.scaled, "iu");
    const plusMinus = new RegExp(patterns.stated, "iu");
    const stated = (name) => {
      const found = plusMinus.exec(name), before = found ? name.slice(0, found.index) : "";
      return before.replace(/[ ([]/g, "") ? before + name.slice(found.index + found[0].length) : name;
    };
    const statistics = ["summary", "spread", "count", "normalised", "rank"];
    const letters = new RegExp(patterns.words.replace("[^\\W\\d_]", "\\p{L}"), "gu");
    const joined = "(?<=[a-z])(?=[A-Z])|(?<=[Δδσ%])(?=[A-Za-z])|(?<=[A-Z0-9])(?=(?:std|sem|stderr|err|mean|avg|hns|norm)(?![A-Za-z]))|(?<=[A-Za-z0-9)])(?=[\\u3040-\\u30ff\\u4e00-\\u9fff])";
    const gaps = new RegExp(joined, "gu"), splits = new RegExp(`[\\s_\\-./:|()[\\]]+|${joined}`, "gu");
    const unabbreviated = (name) => name.replace(/\b(s)\.\s?([de])\.(?:\s?(m)\.)?/gi, (_, ...letter) => letter.slice(0, 3).join(""));
    const wordsOf = (name) => unabbreviated(name.replaceAll("+/-", "±")).replace(gaps, " ").toLowerCase().match(letters) ?? [];
    const key = (name) => wordsOf(name).join(" ");
    function roleOf(written) {
      const name = stated(written.replace(prefix, "")), scaled = scale.exec(name);
      if (scaled) {
        const role = roleOf((name.slice(0, scaled.index) + name.slice(scaled.index + scaled[0].length)).replace(/^[ _]+|[ _]+$/g, ""));
        if (role || scaled[0].replace(/[ ([_\])]/g, "").toLowerCase() !== "m") return role && role !== "score" ? role : "normalised"; // which may be a mean
      }
      if (name.replaceAll("+/-", "").includes("/")) return roleOf(name.slice(name.lastIndexOf("/") + 1)) === "score" ? "score" : null;
      const all = wordsOf(name), text = all.join(" ");
      if (!all.length) return name ? null : "index";
      const named = Object.keys(names).find((role) => names[role].includes(text) || (role === "index" && all[0] === "unnamed"));
      if (named) return named;
      const numbers = all.filter((word) => /^\d/.test(word)), rest = all.filter((word) => !/^\d/.test(word));
      return Object.keys(words).find((role) => {
        const [some, beside] = words[role], spread = role === "spread";
        return (rest.some((word) => some.includes(word)) || (spread && numbers.some((word) => word.endsWith("%"))))
          && rest.every((word) => some.includes(word) || beside.includes(word)) && (!numbers.length || spread);
      }) ?? null;
    }
    /** The name, the owner and the number of a run: "DQN" and "0" of "DQN seed 0" and of "seed0_DQN". */
    function runIn(name) {
      const before = whole.of_run.exec(name);
      return whole.run_of.exec(name) ?? (before && !roleOf(before[2]) ? [name, before[2], before[1]] : null);
    }
    /** The role of a column of values, and whose it is: of "DQN std" spread and "DQN". */
    function ofValue(name, header, isGame) {
      const known = new Set(header.map(key).filter(Boolean)), isSure = (text) => wordsOf(text).some((word) => sure.includes(word)), last = (text) => text.replace(/[)\] ]+$/, "");
      const parted = (text) => {
        const parts = [...text.matchAll(splits)].map(({ 0: gap, index }) => [text.slice(0, index), last(text.slice(index + gap.length))]).filter((pair) => pair.every(Boolean));
        return [...parts.map(([before, after]) => [before, after, true]), ...parts.map(([before, after]) => [after, before, false]).reverse()];
      };
      const isMean = (role, what) => role === "score" || (role === "summary" && means.includes(key(what)));
      const scored = new Set(header.flatMap(parted).filter(([, what]) => isMean(roleOf(what), what)).map(([whose]) => key(whose)));
      const runs = header.map((one) => (runIn(one) ?? whole.numbered.exec(one))?.[1]).filter(Boolean).map(key);
      const allOf = (word, side, least) => {
        const free = header.filter((one) => one && !roleOf(one) && !isSure(one));
        const several = new Set(free.map((one) => runIn(one)?.[1] ?? one));
        return several.size >= least && free.every((one) => parted(one).some(([, what, behind]) => what === word && behind === side));
      };
      const compares = (text) => {
        const versus = whole.versus.exec(text);
        return versus && known.has(key(versus[1])) && known.has(key(versus[2]));
      };
      if (compares(name)) return ["summary", name];
      const limits = (owner) => new Set(header.flatMap(parted).filter(([whose, what, behind]) => behind && key(whose) === owner && roleOf(what) === "spread").map(([, what]) => key(what))).size;
      {
        for (const [whose, what, behind] of parted(unabbreviated(stated(name)))) {
          const role = roleOf(what);
          if (!role || settings.includes(key(what)) || (roleOf(whose) && !isGame(whose))) continue;
          const own = wordsOf(whose), beside = known.has(key(whose)) || compares(whose);
          if (statistics.includes(role) && runs.filter((one) => one === key(whose)).length > 1) return [role, whose];
          if (isMean(role, what)) {
            const others = header.map(wordsOf).filter((all) => own.every((word) => all.includes(word))).map((all) => all.filter((word) => !own.includes(word)));
            if (!beside && (allOf(what, behind, role === "score" ? 1 : 2) || others.some((all) => all.some((word) => sure.includes(word)) && !all.some((word) => means.includes(word))))) return ["value", whose];
          } else if ([...statistics, "note", "frames"].includes(role) && (beside || scored.has(key(whose)) || (behind && isSure(what)))) return [role, whose];
          else if ((role === "normalised" && allOf(what, behind, 2)) || (role === "spread" && limits(key(whose)) > 1)) return [role, whose];
        }
      }
      return [null, name];
    }
    const ask = (name, told) => Object.entries(told).reduce((text, [field, value]) => text.replaceAll(`{${field}}`, value), questions[name]);
    const preferred = (role, header, columns) => {
      const list = role === "score" ? scores : names[role], place = (column) => (list.indexOf(key(header[column])) + 1 || list.length + 1);
      return columns.reduce((best, column) => (best < 0 || place(column) < place(best) ? column : best), -1);
    };
    /** The algorithm that a name in a row says, null where it describes one, as "DQN std" does. */
    function ofRow(name, those) {
      const isStatistic = (one) => statistics.includes(roleOf(one));
      const sureOf = (one) => wordsOf(one).some((word) => rows.includes(word)) && isStatistic(one);
      if (isStatistic(name) && those.some(sureOf)) return null; // "best" or "UCB" alone may be an algorithm
      const [other, whose] = ofValue(name, those, () => false);
      return statistics.includes(other) ? null : other === "value" ? whose : name;
    }
    const mayBeCited = (name) => wordsOf(name).some((word) => cited.includes(word));
    return { roleOf, runIn, ofValue, ofRow, whole, ask, preferred, mayBeCited };
  }

  function number(cell, place, missing) {
    const text = cell.trim();
    if (missing.includes(text.toLowerCase())) return null;
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

  /** Refuse columns such as DQN_1, DQN_2, unless most others have no number. */
  function refuseNumbered(heads, rules, doubt, listed) {
    const matches = heads.map((name) => rules.whole.numbered.exec(name)).filter(Boolean);
    if (2 * matches.length < heads.length - 1) return;
    for (const whose of new Set(matches.map((match) => match[1]))) {
      const those = matches.filter((match) => match[1] === whose), first = heads.includes(whose) ? [0] : [];
      const numbers = [...first, ...those.map((match) => Number(match[2]))].sort((one, other) => one - other);
      if (numbers.length > 1 && [0, 1].some((start) => numbers.every((one, place) => one === place + start))) {
        doubt("numbered", { names: listed([...(first.length ? [whose] : []), ...those.map(([name]) => name)]), of: quoted(whose), name: whose, number: those[0][2], one: those[0][0] });
      }
    }
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
    const game = (name, place) => {
      const found = games.get(bareName(name));
      if (found) return found;
      const close = meant(name.slice(0, 60).toLowerCase(), site.games.map(({ id }) => id));
      return fail(`${place}: unknown game ${quoted(name)}; ${close ? `did you mean ${close}?` : "correct it, or leave its scores out"}`);
    };
    const nameOf = (cell, place) => {
      const name = bare(cell);
      if (!name) fail(`${place}: the cell is empty, expected a name`);
      return name.length > MAX_NAME ? fail(`${place}: the name has more than ${MAX_NAME} characters; shorten it`) : name;
    };
    const rules = rolesBy(site.rules), roles = header.map(rules.roleOf), isGame = (name) => games.has(bareName(name));
    const find = (role) => rules.preferred(role, header, roles.flatMap((one, column) => (one === role ? [column] : [])));
    const cellsOf = (column) => [...new Set(data.map((row) => bare(row.cells[column])))].filter(Boolean);
    const byCells = () => header.findIndex((_, column) => 2 * cellsOf(column).filter(isGame).length >= cellsOf(column).length && cellsOf(column).length);
    const value = (row, column) => number(row.cells[column], at(row, column), site.rules.missing);
    const listed = (those) => (those.length > 3 ? `${those.slice(0, 3).join(", ")} and ${those.length - 3} more` : those.join(", "));
    const found = new Map(), run = Math.max(find("run"), find("run") < 0 ? find("seed") : -1);
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
    const score = find("score"), who = find("algorithm"), named = find("game"), what = named < 0 ? byCells() : named;
    if (what >= 0 && ["normalised", "spread", "rank", "count"].includes(roles[what])) {
      fail(`${file}, row 1, column ${what + 1}: ${quoted(header[what])} above the games says that the numbers are no scores (${roles[what]}); give the games' own points, in a table whose games stand below 'game'`);
    }
    /** The algorithms that a column of them names, and none where a row only describes one; runs among them are refused. */
    const inRows = (column) => {
      const written = cellsOf(column), all = new Map(written.map((name) => [name, rules.ofRow(name, written)]));
      const kept = [...new Set([...all.values()].filter((name) => name !== null))];
      if (!kept.length) return new Map(written.map((name) => [name, name]));
      if (run < 0) {
        const runs = kept.filter(rules.runIn), owners = runs.map((name) => rules.runIn(name)[1]);
        if (kept.every((name) => rules.whole.run.test(name)) && (kept.length > 1 || rules.whole.named_run.test(kept[0]))) doubt("runs", { names: listed(kept) });
        if (runs.length && (runs.length === kept.length || new Set(owners).size < owners.length)) fail(`${file}, column ${quoted(header[column])}: ${listed(runs)} are runs; number them in a column 'run', or ${ELSEWHERE}`);
        refuseNumbered(kept, rules, doubt, listed);
      }
      return all;
    };
    const doubt = (question, told) => fail(`${file}, row 1: ${rules.ask(question, { algorithm: "algorithm= (--read algorithm=NAME)", roles: "roles= (--read COLUMN=ROLE)", ...told })}`);
    const odd = header.find((name, column) => column !== who && column !== what && rules.whole.number.test(name)) ?? [header[what]].find((name) => name && isGame(name));
    if (odd !== undefined) doubt("headless", { name: quoted(odd) });
    if (score >= 0 && who >= 0 && what >= 0) {
      const more = header.findIndex((_, column) => ["episode", "frames"].includes(roles[column]));
      if (more >= 0) fail(`${file}, row 1: the column ${quoted(header[more])} makes it a log or a learning curve; ${ELSEWHERE}, or leave only its scores`);
      const rivals = header.flatMap((name, column) => (roles[column] === "score" && column !== score && !/train/i.test(name) ? [quoted(name)] : []));
      if (rivals.length) doubt("score", { first: quoted(header[score]), others: listed(rivals), name: header[score] });
      const own = inRows(who);
      for (const row of data.filter(({ cells }) => own.get(bare(cells[who])) !== null)) add(nameOf(own.get(bare(row.cells[who])) ?? "", at(row, who)), game(row.cells[what], at(row, what)), runOf(row), value(row, score), row);
    } else {
      const byAlgorithm = what < 0, first = who >= 0 ? who : 0;
      const free = header.map((_, column) => column).filter((column) => column !== (byAlgorithm ? first : what) && column !== run && !["protocol", "frames", "episode"].includes(roles[column]));
      for (const column of byAlgorithm ? [] : header.keys()) { // of games, if they are others: the scores beside it are not of those in the first
        if (column === what || !cellsOf(column).length || 2 * cellsOf(column).filter(isGame).length < cellsOf(column).length) continue;
        for (const row of data) {
          const [first, second] = [what, column].map((one) => bare(row.cells[one]));
          if (isGame(second) && games.get(bareName(first)) !== games.get(bareName(second))) fail(`${at(row, column)}: ${quoted(second)} stands beside ${quoted(first)}, as where two tables stand beside each other; write them below each other, or leave the column out with --read '${header[column]}=note'`);
        }
      }
      let columns = [], words = [];
      for (const column of free) {
        let [role, whose] = roles[column] && roles[column] !== "score" ? [roles[column], header[column]] : roles[column] ? [null, header[column]] : rules.ofValue(header[column], header, isGame);
        if (role === "note" && !roles[column] && rules.mayBeCited(header[column]) && cellsOf(column).some((cell) => /\d[.,]\d/.test(cell))) [role, whose] = [null, header[column]]; // scores of "Human Ref", no citations
        if (role && role !== "value") continue;
        if (!byAlgorithm && cellsOf(column).length && !cellsOf(column).some((cell) => /\d/.test(cell[0]) || NUMBER.test(cell))) words.push({ column, name: whose, run: null });
        else columns.push({ column, name: whose, run: null });
      }
      for (const { column } of who < 0 && columns.length ? words : []) { // of one word, as of the only algorithm
        const cells = new Set(data.map((row) => bare(row.cells[column])));
        if (data.length > 1 && cells.size === 1 && !site.rules.missing.includes([...cells][0].toLowerCase())) doubt("words", { name: quoted(header[column]), cell: quoted([...cells][0]), column: header[column] });
      }
      if (!columns.length) columns = words;
      if (!columns.length || (byAlgorithm && who < 0 && !columns.some(({ name }) => isGame(name)))) {
        fail(`${file}, row 1: expected the columns algorithm, game, score (long), or a column of algorithms with a column for each game, or of games with one for each algorithm (wide), not ${quoted(header.slice(0, 12).join(", "))}`);
      }
      const heads = columns.map(({ name }) => name);
      if (!byAlgorithm) {
        if (columns.length > 1 && heads.every((name) => rules.whole.parts.test(name))) doubt("parts", { names: listed(heads), one: heads[0] });
        if (heads.every((name) => rules.whole.run.test(name)) && (columns.length > 1 || rules.whole.named_run.test(heads[0]))) doubt("runs", { names: listed(heads) });
        const runs = heads.map(rules.runIn);
        if (runs.every(Boolean)) columns.forEach((item, place) => Object.assign(item, { name: runs[place][1], run: runs[place][2] }));
        else refuseNumbered(heads, rules, doubt, listed);
      }
      const asked = byAlgorithm ? [] : columns.filter(({ column, name }) => roles[column] === "score" || site.beside.includes(name.toLowerCase())).map(({ name }) => name);
      if (asked.length && !names) {
        const others = heads.filter((name) => !asked.includes(name));
        throw new TableQuestion(asked, rules.ask("beside", { first: quoted(asked[0]), others: listed(others.map(quoted)) }).split("; say")[0]);
      }
      const named = byAlgorithm ? inRows(first) : null;
      for (const row of data) {
        if (named?.get(bare(row.cells[first])) === null) continue;
        for (const { column, name, run: own } of columns) {
          const head = asked.includes(name) ? names.get(name) : name;
          if (head === "" && asked.includes(name)) continue;
          const [algorithm, task] = byAlgorithm ? [nameOf(named.get(bare(row.cells[first])) ?? "", at(row, first)), game(name, `${file}, row 1, column ${quoted(header[column])}`)] : [nameOf(head, `${file}, row 1, column ${column + 1}`), game(row.cells[what], at(row, what))];
          add(algorithm, task, own === null ? runOf(row) : WHOLE.test(own) ? String(Number(own)) : own.toLowerCase(), value(row, column), row);
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
