// The leaderboard's pages, drawn from the data in data.js and, with what arcademark.readTable reads, the reader's own
// scores. Whatever comes from data is shown as text: elements are made by `h` alone, which never reads markup.
"use strict";
(() => {
  const site = window.ARCADEMARK;
  const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu;
  const capital = (text) => text[0].toUpperCase() + text.slice(1);
  const AGGREGATES = d3.sort(site.aggregates, ({ name }) => (name === "median" ? 0 : 1)); // the one that rows are ordered by first
  const STATISTICS = Object.fromEntries(AGGREGATES.map(({ name, title }) => [name, capital(title)]));
  const BADGES = {
    yours: ["yours", "From a file dropped on this page, or given on the command line; not part of the catalogue"],
    replayed: ["replayed", "Every recorded episode reproduced its score when these pages were generated"],
    differs: ["does not replay", "Some recorded episodes do not reproduce their scores"],
    imported: ["imported", "Imported from external logs, which cannot be replayed"],
    "per-seed": ["per-seed scores", "Scores of individual runs are available, so there are intervals"],
    "as-published": ["as published", "Scores as a paper prints them"],
    errata: ["errata", "The paper prints at least one wrong value"],
  };
  const ANOMALIES = {
    counter: (end) => `Its counter shows ${end.toLocaleString("en")} at most.`,
    factor: (factor) => `Older emulators paid ${factor} times the points of today.`,
    endless: () => "Play can go on for ever.",
    differs: () => "Scores of a paper differ from those of today's emulator.",
  };
  const BUDGETS = [["up to 1M", 0, 1e6], ["to 50M", 1e6, 5e7], ["to 200M", 5e7, 2e8], ["more than 200M", 2e8, Infinity]];
  const UNKNOWN = "not known", NEARLY_ALL = site.nearly_all, VAGUE = 10;
  const OF_TASKS = site.unit === "step", NOUN = OF_TASKS ? "task" : "game", TITLE = OF_TASKS ? "Task" : "Game";
  const LENGTHS = OF_TASKS ? "steps" : "frames", LENGTHS_TITLE = OF_TASKS ? "Steps" : "Frames";
  const REFERENCES = OF_TASKS
    ? [["low", "0 %", "0 %", "var(--muted)"], ["high", "100 %", "100 %", "var(--record)"]]
    : [["random", "Random", "random play", "var(--muted)"], ["human", "Human", "human", "var(--series-2)"], ["human_world_record", "Record", "world record", "var(--record)"]];
  const games = new Map(site.games.map((game) => [game.id, game]));
  const views = new Map(site.views.map((view) => [view.name, view]));
  const rows = [...site.algorithms];
  const groups = [...site.groups, { title: "Your scores, protocol not said", settings: {}, known: false, yours: true }];
  const plain = () => ({
    view: site.views[0].name, metric: site.views[0].measures[0].metric, statistic: "median", ranks: false, complete: false, runnable: false,
    search: "", filters: {}, sorting: null, columns: null, chosen: new Set(),
  });
  const state = { ...plain(), message: "", failed: false };

  // Text and elements

  const shown = (text) => String(text).replace(UNSEEN, (mark) => `\\u{${mark.codePointAt(0).toString(16)}}`);

  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (typeof value === "function") element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, shown(value));
    }
    for (const child of children.flat(9)) {
      if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : shown(child));
    }
    return element;
  }

  const FORMATS = [0, 1, 2].map((digits) => new Intl.NumberFormat("en", { maximumFractionDigits: digits, minimumFractionDigits: digits, signDisplay: "negative" }));
  /** Round as Python does: what the number is to its last bit, halves to even. */
  function rounded(value, digits) {
    const scaled = value * 10 ** digits, half = Number.isInteger(value * 2 ** (digits + 1)) && Math.abs(scaled % 1) === 0.5;
    return half ? (2 * Math.round(scaled / 2)) / 10 ** digits : Number(value.toFixed(digits));
  }

  const number = (value, digits) => FORMATS[digits].format(rounded(value, digits)).replace("-", "−");
  const percent = (value) => number(value, value === 0 || Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2);
  const points = (value) => number(value, Number.isInteger(value) || Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
  const plural = (count, noun) => `${number(count, 0)} ${noun}${count === 1 ? "" : "s"}`;

  function frames(count) {
    for (const [size, unit] of [[1e9, "B"], [1e6, "M"], [1e3, "k"]]) {
      if (count >= size) return `${Number((count / size).toPrecision(3))}${unit}`;
    }
    return String(count);
  }

  const part = (text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
  const algorithmAt = (row) => `#/algorithm/${part(row.name)}`;
  const gameAt = (id) => `#/game/${part(id)}`;
  const link = (to, text) => h("a", { href: to }, text);
  /** Link to an algorithm's page, and name below the table that its result is from. */
  const who = (row, name = withoutTable(row)) => [link(algorithmAt(row), name), tableOf(row) && h("small", { class: "by" }, `table of ${tableOf(row)}`)];
  const outside = (url, text) => (/^https?:\/\//.test(url) ? h("a", { href: url, rel: "noreferrer" }, text) : text);
  const isYours = (row) => row.badges.includes("yours"); // dropped on this page, or given to the command that wrote it
  /** Return the paper in whose table a result stands, where it is not the paper that published the algorithm. */
  const tableOf = (row) => (row.source_paper === row.paper ? undefined : site.papers[row.source_paper]?.short);
  const withoutTable = (row) => row.name.replace(` (${tableOf(row)})`, "");
  const attributed = (row) => (tableOf(row) ? `${withoutTable(row)} (table of ${tableOf(row)})` : row.name);
  /** Return an algorithm's name, in which a paper that only printed the scores is not taken for the algorithm's. */
  const titled = (row) => (withoutTable(row) === row.name ? row.name : attributed(row));
  const TABLES = [...d3.rollup(site.algorithms.map(tableOf).filter(Boolean), (those) => those.length, (short) => short)].sort((one, other) => other[1] - one[1]).map(([short]) => short);
  /** Return a result's footnote mark, a number in superscript, or nothing. */
  const markOf = (row) => (tableOf(row) ? String(TABLES.indexOf(tableOf(row)) + 1).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]) : "");
  const footnotes = (those) => { const found = d3.sort(new Map(those.map((row) => [markOf(row), tableOf(row)])), ([, short]) => TABLES.indexOf(short)).filter(([mark]) => mark); return found.length ? `${found.map(([mark, short]) => `${mark}\u00a0Table of ${short}`).join("; ")}.` : ""; };
  /** Find an algorithm by its name or, where several results have it, the one that stands for them. */
  const byName = (name) => rows.find((row) => part(row.name) === part(name)) ?? rows.find((row) => part(row.identity) === part(name) && row.precedence === 0);
  const nameOf = (id) => games.get(id)?.name ?? id;

  // Figures of an algorithm

  const view = () => views.get(state.view);
  const measure = () => view().measures.find((item) => item.metric === state.metric) ?? view().measures[0];
  const ascendingIsBetter = (statistic) => AGGREGATES.find(({ name }) => name === statistic).target === null;

  /** The estimate that stands for a median over games that are not all there. */
  const estimateOf = (row, statistic, metric = measure().metric) => (statistic === "median" && metric === "hns" && row.estimate?.suite === state.view ? row.estimate : null);

  /** Whether an estimate's interval is too wide to say anything. */
  const vague = (guess) => guess.low !== null && guess.high + 1 > VAGUE * (guess.low + 1);

  /** An estimate that is only known to be below the upper end of its interval, in words. */
  const belowOf = (guess) => `below ${percent(guess.high)} %`;

  /** What may stand below the heading of a view: of all its games, or nearly all; of fewer an estimate, or nothing. */
  function summary(row, statistic, metric = measure().metric) {
    const standing = row.standings[state.view], guess = estimateOf(row, statistic, metric);
    if (guess && (guess.value === null || vague(guess))) return [];
    if (guess) return guess.low === null ? [guess.value] : [guess.value, guess.low, guess.high];
    return standing?.games >= NEARLY_ALL * view().games.length ? standing.summaries[metric]?.[statistic] ?? [] : [];
  }

  const value = (row, statistic, metric) => summary(row, statistic, metric)[0];

  function runsOf(row, tasks) {
    const wanted = tasks && new Set(tasks);
    const found = site.games.map((game, at) => [game.id, row.scores[at]]);
    return Object.fromEntries(found.filter(([id, runs]) => runs?.length && (!wanted || wanted.has(id))));
  }

  function scoreOf(row, id) {
    const at = site.games.findIndex((game) => game.id === id), runs = row.scores[at];
    return runs?.length ? { score: arcademark.mean(runs), runs, reach: row.reaches[at] ?? [] } : null;
  }

  const year = (row) => row.year ?? undefined;
  const paper = (row) => site.papers[row.paper];
  const budget = (row) => {
    if (row.training_frames === null) return UNKNOWN;
    return BUDGETS.find(([, , most]) => row.training_frames <= most)[0];
  };
  const group = (row) => groups[row.group];
  const setting = (row, name) => group(row).settings[name] ?? UNKNOWN;

  /** Make a row of somebody's own scores, with the figures that Python works out of all others. */
  function ownRow(name, scores) {
    const standings = {};
    for (const item of site.views) {
      const mine = Object.fromEntries(Object.entries(scores).filter(([id]) => item.games.includes(id)));
      if (!Object.keys(mine).length) continue;
      const summaries = {}, means = Object.entries(mine).map(([id, runs]) => [id, arcademark.mean(runs)]);
      for (const one of item.measures) {
        let found;
        Object.defineProperty(summaries, one.metric, { enumerable: true, get: () => (found ??= arcademark.reaches(one, mine) ?? {}) });
      }
      const human = item.measures.some((other) => other.metric === "hns");
      const reached = (metric) => {
        const one = site.views[0].measures.find((other) => other.metric === metric);
        return human ? means.filter(([id, score]) => arcademark.known(one, id) && arcademark.normalised(one, id, score) >= 100).length : null;
      };
      standings[item.name] = { games: means.length, summaries, records: reached("hwrns"), human_level: reached("hns"), of: means.length };
    }
    const counts = Object.values(scores).map((runs) => runs.length);
    const free = (wanted) => (rows.some((row) => row.name === wanted) ? free(`${wanted} (yours)`) : wanted);
    return {
      name: free(name), identity: name, kind: "yours", year: null, paper: "", source: "your file", source_paper: "", collection: "",
      note: "", group: groups.length - 1, settings: {}, assumed: [], training_frames: null, reported: "unknown",
      fewest_runs: Math.min(...counts), most_runs: Math.max(...counts), badges: ["yours"],
      scores: site.games.map((game) => scores[game.id] ?? []), reaches: site.games.map(() => []), published: {}, notes: {},
      standings, estimate: site.model && estimated(name, scores), predicted: [], replay: null, curves: [], films: [], dropped: true,
    };
  }

  let predict = null;
  function estimated(name, scores) {
    predict ??= arcademark.predictor(site.model);
    const means = Object.fromEntries(Object.entries(scores).map(([id, runs]) => [id, arcademark.mean(runs)]));
    const made = predict(name, means), used = site.model.tasks.filter((id) => id in means).length;
    return made && { ...made, title: plural(used, NOUN), suite: site.views[0].name, covered: null, warnings: [site.model.caution] };
  }

  /** Ask what columns that may be no algorithms are scores of: names by column, "" of none; null where nobody says. */
  const ask = (file, columns, question) => new Promise((answer) => {
    const fields = columns.map((name) => [name, h("input", { type: "text", maxlength: 200 })]);
    const box = h("dialog", { "aria-labelledby": "asked" }, h("form", { method: "dialog" },
      h("h2", { id: "asked" }, columns.length > 1 ? "Are these columns algorithms?" : "Is this column an algorithm?"),
      h("p", { class: "small" }, `${file} has ${plural(columns.length, "column")} that may be something else: ${question}. Name the algorithm whose scores a column holds; what has no name is left out.`),
      fields.map(([name, field]) => h("label", { class: "field" }, h("span", {}, `Column ${name} has the scores of`), field)),
      h("p", { class: "chosen" }, h("button", { class: "plain", value: "read" }, "Read the table"), h("button", { class: "plain", value: "" }, "Cancel"))));
    box.addEventListener("close", () => {
      box.remove();
      answer(box.returnValue === "read" ? new Map(fields.map(([name, field]) => [name, field.value.trim()])) : null);
    });
    document.body.append(box);
    box.showModal();
  });

  async function read(file) {
    if (file.size > arcademark.MAX_BYTES) throw new arcademark.TableError(`${file.name}: holds more than ${arcademark.MAX_BYTES.toLocaleString("en")} bytes; give a smaller file`);
    const bytes = await file.arrayBuffer();
    try {
      return arcademark.readTable(bytes, site, file.name);
    } catch (error) {
      if (!(error instanceof arcademark.TableQuestion)) throw error;
      const names = await ask(file.name, error.columns, error.message);
      return names ? arcademark.readTable(bytes, site, file.name, names) : [];
    }
  }

  /** Say what a row's median is, or is estimated as, and where that would stand among all. */
  function standingOf(row) {
    const [{ name, games: all, measures: [item] }] = site.views, standing = row.standings[name], whole = standing?.games >= NEARLY_ALL * all.length;
    const guess = whole ? null : row.estimate, [mine, low, high] = guess ? [guess.value, guess.low ?? undefined, guess.high] : whole ? standing.summaries[item.metric]?.median ?? [] : [];
    const place = (value) => 1 + site.ranking.filter((median) => median > value).length;
    if (guess?.value === null) return `${row.name}: median ${item.title} ${belowOf(guess)}, estimated from ${guess.title}.`;
    if (mine === undefined) return `${row.name}: ${standing?.games ?? 0} of the ${all.length} ${NOUN}s of ${name}, too few for a median.`;
    const told = `${row.name}: median ${item.title} ${percent(mine)} %${guess ? `, estimated from ${guess.title}` : ""}${low === undefined ? "" : ` (${Math.round(100 * (guess?.level ?? site.intervals.confidence))} %: ${percent(low)} to ${percent(high)})`}`;
    if (!site.ranking.length || (guess && vague(guess))) return `${told}.`;
    const total = 1 + site.ranking.length, ends = low === undefined || place(low) === place(high) ? "" : `#${place(high)} to #${place(low)}; `;
    if (place(high ?? mine) === total) return `${told}; below all published algorithms with a median (the lowest is ${percent(Math.min(...site.ranking))} %; protocols differ).`;
    return `${told}; ${low === undefined ? "" : "about "}#${place(mine)} of ${total} among published algorithms with a median (${ends}protocols differ).`;
  }

  async function take(files) {
    try {
      const made = [];
      for (const file of [...files].slice(0, 5)) made.push(...await read(file));
      const own = made.map(([name, scores]) => { rows.push(ownRow(name, scores)); return rows.at(-1); });
      const told = own.slice(0, 3).map(standingOf).join(" ");
      Object.assign(state, { failed: false, message: own.length ? `${plural(own.length, "algorithm")} of yours added. ${told} They stay in this window: nothing is sent or kept.` : "Nothing added." });
    } catch (error) {
      if (!(error instanceof arcademark.TableError)) throw error;
      Object.assign(state, { failed: true, message: `Nothing added. ${error.message}${/[?…]$/.test(error.message) ? "" : "."}` });
    }
    if (location.hash.replace("#/", "")) location.hash = "#/";
    else draw();
  }

  // Parts of pages

  const badges = (row) => row.badges.map((name) => h("span", { class: `badge ${name}`, title: BADGES[name][1] }, BADGES[name][0]));

  const withReach = (found, text = percent) =>
    found.length ? [text(found[0]), found.length > 1 && text(found[1]) !== text(found[2]) && h("small", {}, `${text(found[1])} to ${text(found[2])}`)] : "–";

  function select(label, options, current, onchange, attributes = {}) {
    const list = h("select", { ...attributes, onchange: (event) => onchange(options[event.target.selectedIndex][0]) },
      options.map(([key, text]) => h("option", { selected: key === current }, text)));
    return h("label", { class: "field" }, h("span", {}, label), list);
  }

  function measuredBy(redraw) {
    const change = (key) => (chosen) => { state[key] = chosen; settle(); remember(); redraw(); };
    return [
      select(`${TITLE}s`, site.views.map((item) => [item.name, `${item.name}: ${plural(item.games.length, NOUN)}`]), state.view, change("view"), { id: "view" }),
      select("Measured by", view().measures.map((item) => [item.metric, item.title]), measure().metric, change("metric"), { id: "metric" }),
      select("Summary", Object.entries(STATISTICS), state.statistic, change("statistic"), { id: "statistic" }),
    ];
  }

  /** After a change of what is shown: a measure that the view has, and the order of the summary. */
  function settle() {
    state.metric = measure().metric;
    state.sorting = null;
  }

  const facts = (pairs) => h("dl", { class: "facts" },
    pairs.filter(([, text]) => text !== "" && text !== null && text !== undefined).map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));

  const table = (headings, lines, attributes = {}) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": attributes.label ?? "Table" },
    h("table", {}, h("thead", {}, h("tr", {}, headings.map(([text, kind]) => h("th", { scope: "col", class: kind }, text)))),
      h("tbody", {}, lines.map((line) => h("tr", { class: line.kind }, line.cells.map((cell, at) =>
        h(at ? "td" : "th", { scope: at ? null : "row", class: headings[at][1] }, cell)))))));

  const section = (title, ...blocks) => h("section", { "aria-label": title }, h("h2", {}, title), blocks);

  function figure(caption, draw) {
    const place = h("div", { class: "plot-place" });
    requestAnimationFrame(() => {
      if (place.isConnected) place.append(draw(Math.max(320, place.clientWidth)));
    });
    return h("figure", {}, place, h("figcaption", {}, caption));
  }

  /** Draw a figure. Its parts have no names of their own, and links in it those of their pages; the tab key passes them by, as tables have them, too. */
  function plot(width, label, options) {
    const drawn = Plot.plot({
      className: "plot", width, ariaLabel: label, marginLeft: 52, marginRight: 24, marginBottom: 42, style: { background: "transparent", fontSize: "12px" }, ...options,
    });
    const links = [...drawn.querySelectorAll("a")];
    for (const named of drawn.querySelectorAll("g[aria-label]")) named.removeAttribute("aria-label");
    for (const one of links) {
      const [kind, name] = decodeURIComponent(one.getAttribute("href") ?? one.getAttributeNS("http://www.w3.org/1999/xlink", "href")).split("/").slice(1);
      one.setAttribute("aria-label", shown(kind === "game" ? nameOf(name) : name));
      one.setAttribute("tabindex", "-1");
    }
    drawn.setAttribute("role", links.length ? "group" : "img");
    return drawn;
  }

  const SERIES = ["var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)", "var(--series-5)"];
  const DASHES = ["", "6 2", "2 2", "6 2 2 2", "3 1"];
  const legend = (names) => h("p", { class: "legend" }, names.map((name, at) => h("span", {}, h("i", { class: `series-${at % 5 + 1}` }), name)));
  const around = (values) => { const [low, high] = [Math.min(...values), Math.max(...values)]; return low < high ? [low, high] : [low - 1, high + 1]; };
  const TICKS = [-100, 0, 20, 100, 500, 2000, 10000, 50000, 200000];
  /** A scale of percentages, close to linear near 0 and to logarithmic far from it. */
  function spread(values) {
    const domain = [Math.min(0, ...values), Math.max(100, ...values)];
    const ticks = TICKS.filter((tick) => tick >= domain[0] && tick <= domain[1]);
    return { type: "symlog", constant: 20, grid: true, domain, ticks };
  }

  // The table of all algorithms

  const scored = (row) => row.standings[state.view]?.games ?? 0;
  const COLUMNS = [
    { id: "median", title: "Median", figure: true, usual: true },
    { id: "protocol", title: "Protocol", meaning: "Settings; ranks are within groups of equal settings", text: true, of: (row) => played(row)[0], cell: (row) => protocolBadge(row), usual: true },
    { id: "frames", title: LENGTHS_TITLE, meaning: `${OF_TASKS ? "Steps" : "Emulated frames"} of training`, of: (row) => row.training_frames ?? undefined, cell: (row) => (row.training_frames === null ? "–" : frames(row.training_frames)), usual: true },
    { id: "year", title: "Year", of: year, cell: (row) => row.year ?? "–", usual: true },
    { id: "games", title: `${TITLE}s`, of: scored, cell: (row) => `${scored(row)}/${view().games.length}`, usual: true },
    { id: "mean", title: "Mean", figure: true, usual: true },
    ...AGGREGATES.filter(({ name }) => name !== "median" && name !== "mean").map(({ name, meaning }) => ({ id: name, title: STATISTICS[name], figure: true, meaning: capital(meaning.replaceAll("{noun}", NOUN)) })),
    { id: "hwrns", title: "HWRNS", meaning: "Median human-world-record-normalised score, over the same games", of: (row) => value(row, "median", "hwrns"), cell: (row) => withReach(summary(row, "median", "hwrns")) },
    { id: "records", title: "Records", meaning: "Human world records broken", of: (row) => row.standings[state.view]?.records ?? undefined, cell: (row) => row.standings[state.view]?.records ?? "–", usual: true, wide: true },
    { id: "seeds", title: "Runs", meaning: `Runs (seeds) per ${NOUN} whose scores are known`, of: (row) => row.most_runs, cell: (row) => (row.fewest_runs === row.most_runs ? row.most_runs : `${row.fewest_runs}–${row.most_runs}`) },
    { id: "source", title: "Paper", text: true, of: (row) => paper(row)?.short ?? row.source, cell: (row) => paper(row)?.short ?? row.source, usual: true, wide: true },
  ];
  const FACETS = {
    sticky: (row) => setting(row, "sticky actions"), cap: (row) => setting(row, "max episode length"), start: (row) => setting(row, "start"),
    kind: (row) => row.kind, budget, evidence: (row) => row.badges,
  };

  /** How an algorithm was played, in a few words: these, what kind of protocol it is, and what that means. */
  function played(row) {
    const { settings, known, title, yours } = group(row), { start, "sticky actions": sticky, "max episode length": cap } = settings;
    if (yours) return ["not said", "unknown", title];
    if (OF_TASKS) return [title, known ? "runnable" : "unknown", title];
    const words = [
      settings["plans on the emulator"] === "yes" ? "plans on the emulator" : null,
      sticky === UNKNOWN || start === "human" ? null : Number(sticky) ? "sticky actions" : "no sticky actions",
      { human: "human starts", "no-ops": "no-op starts" }[start], cap === UNKNOWN || cap === "30 min" ? null : `${cap} at most`,
    ].filter(Boolean);
    if (start === "human") return [words.join(", "), "human", `${title}. It starts from positions that people played to, which were never published: nobody can run it today.`];
    if (known) return [words.join(", "), "runnable", `${title}. All of it is known: you can play your agent by the same rules.`];
    return [words.length ? `${words.join(", ")}, rest not known` : "protocol unclear", "unknown", `${title}. Not ranked: not all is known of how it was played.`];
  }

  function protocolBadge(row) {
    const [words, kind, meaning] = played(row);
    return h("span", { class: `badge protocol ${kind}`, title: meaning }, words);
  }

  /** Why an estimate should not be relied on; that of somebody's own scores once they say how they were played. */
  const doubts = (row) => (row.dropped && group(row).known ? [] : row.estimate.warnings);

  function summaryCell(row, statistic) {
    const guess = estimateOf(row, statistic);
    if (!guess) return withReach(summary(row, statistic));
    if (vague(guess)) return ["–", h("small", { title: `Estimated from ${guess.title}: too few, or too unusual, to say more` }, `${percent(guess.low)} to ${percent(guess.high)}?`)];
    const { value: found, low, high } = guess, why = doubts(row);
    const doubt = why.length ? h("span", { class: "doubtful", title: why.join(" ") }, " ?") : null;
    return [found === null ? `below ${percent(high)}` : percent(found), doubt, h("small", { title: `Estimated from ${guess.title}; the interval is ${Math.round(100 * guess.level)} %, for an algorithm of another paper` }, `est. ${low === null || found === null ? "" : `${percent(low)} to ${percent(high)}`}`)];
  }

  const sorting = () => state.sorting ?? [{ id: state.statistic, desc: ascendingIsBetter(state.statistic) }];

  function makeTable(search = state.search) {
    const { createTable, getCoreRowModel, getSortedRowModel, getFilteredRowModel } = TableCore;
    const column = (id, of, more = {}) => ({ id, accessorFn: of, sortUndefined: "last", enableGlobalFilter: false, ...more });
    const facet = ([id, of]) => column(id, of, { filterFn: (row, key, wanted) => [row.getValue(key)].flat().includes(wanted) });
    const made = createTable({
      data: rows, renderFallbackValue: null, onStateChange: () => {}, state: {},
      columns: [
        column("name", (row) => row.name, { sortingFn: "text", enableGlobalFilter: true }),
        ...COLUMNS.map(({ id, figure: isFigure, of, text }) => column(id, isFigure ? (row) => value(row, id) : of, { sortingFn: text ? "text" : "basic" })),
        column("complete", (row) => scored(row) === view().games.length, { filterFn: "equals" }),
        column("runnable", (row) => played(row)[1] === "runnable", { filterFn: "equals" }),
        column("scored", (row) => state.view in row.standings, { filterFn: "equals" }),
        ...Object.entries(FACETS).map(facet),
      ],
      globalFilterFn: (row, _, wanted) => [row.original.name, row.original.identity, row.original.collection, paper(row.original)?.short ?? ""]
        .some((text) => text.toLowerCase().includes(wanted.toLowerCase())),
      getCoreRowModel: getCoreRowModel(), getSortedRowModel: getSortedRowModel(), getFilteredRowModel: getFilteredRowModel(),
    });
    const filters = Object.entries(state.filters).filter(([, wanted]) => wanted !== "").map(([id, wanted]) => ({ id, value: wanted }));
    filters.push({ id: "scored", value: true }, ...["complete", "runnable"].filter((id) => state[id]).map((id) => ({ id, value: true })));
    made.setOptions((before) => ({ ...before, state: { ...made.initialState, sorting: sorting(), columnFilters: filters, globalFilter: search } }));
    return made.getSortedRowModel().rows.map((row) => row.original);
  }

  const nearlyWhole = (row) => scored(row) >= NEARLY_ALL * view().games.length;

  /** Keep one row per algorithm, with its others: one with nearly all games of the view, if any, first by precedence. */
  function algorithms(those) {
    const alike = d3.group(those, (row) => (isYours(row) ? row : row.identity));
    const found = new Map([...alike.values()].map((same) => d3.sort(same, (row) => !nearlyWhole(row), (row) => row.precedence)).map(([first, ...others]) => [first, others]));
    return new Map(those.filter((row) => found.has(row)).map((row) => [row, found.get(row)]));
  }

  const nameIn = (row) => (state.ranks || isYours(row) ? withoutTable(row) : row.identity);

  /** Ranks within those that may be ranked with each other: of one known group, with a score on every game. */
  function ranks(those) {
    const whole = those.filter((row) => group(row).known && scored(row) === view().games.length);
    return new Map([...d3.group(whole, (row) => row.group).values()].flatMap((alike) => [...places(alike)]));
  }

  /** By how many of some rows each is surpassed, plus one. */
  function places(those) {
    const better = ascendingIsBetter(state.statistic) ? 1 : -1, valued = those.map((row) => [row, value(row, state.statistic)]).filter(([, found]) => found !== undefined);
    return new Map(valued.map(([row, mine]) => [row, 1 + valued.filter(([, other]) => better * (other - mine) > 0).length]));
  }

  function caveat(those) {
    const budgets = those.map((row) => row.training_frames).filter((count) => count !== null);
    const unknown = those.length - budgets.length, kinds = [...new Set(those.map((row) => row.reported))];
    const told = [];
    if (new Set(budgets).size > 1) told.push(`trained for ${frames(Math.min(...budgets))} to ${frames(Math.max(...budgets))} ${LENGTHS}${unknown ? `, ${unknown} not known` : ""}`);
    const assumed = those.filter((row) => site.told_apart.some((name) => row.assumed.includes(name))).length;
    if (assumed) told.push(`${assumed} by settings that their source assumed`);
    if (kinds.length > 1) told.push(`scores of ${kinds.map((kind) => `${kind} (${those.filter((row) => row.reported === kind).length})`).join(", ")}`);
    return told.length ? `These differ, too: ${told.join("; ")}.` : "";
  }

  const nothing = (all) => h("p", { class: "nothing" }, "No result fits this search and these filters. ", link(all, "Show all"));
  const WHY_NOT = "Not ranked: some settings of these are unknown.";

  function tablePage() {
    const place = h("div", {}), front = h("div", {});
    const status = h("p", { role: "status", class: "small", id: "count" });

    function facetOptions(id) {
      const found = new Set(rows.flatMap((row) => FACETS[id](row)));
      const named = id === "evidence" ? (key) => BADGES[key][0] : (key) => key;
      const order = id === "budget" ? [...BUDGETS.map(([name]) => name), UNKNOWN].filter((name) => found.has(name)) : [...found].sort();
      return [["", "any"], ...order.map((key) => [key, named(key)])];
    }

    function controlsNow() {
      const [ofGames, by, of] = measuredBy(redraw), chosen = columns().map(({ id }) => id);
      const facet = (id, label) => select(label, facetOptions(id), state.filters[id] ?? "", (wanted) => { state.filters[id] = wanted; changed(); }, { id });
      const box = (label, checked, change, id) => h("label", { class: "check" }, h("input", { type: "checkbox", id, checked, onchange: (event) => { change(event.target.checked); changed(); } }), label);
      const flag = (key, label) => box(label, state[key], (on) => { state[key] = on; }, key);
      const mode = (ranked, label) => h("button", { type: "button", id: ranked ? "ranks" : "best", "aria-pressed": String(state.ranks === ranked), onclick: () => { state.ranks = ranked; remember(); redraw(); } }, label);
      const orders = [["", "the summary"], ...[{ id: "name", title: "Algorithm" }, ...columns()].map(({ id, title }) => [id, title])];
      const narrowed = Object.values(state.filters).filter(Boolean).length + state.complete + state.runnable + Boolean(state.columns) + (measure() !== view().measures[0]) + (state.statistic !== "median");
      return h("div", { class: "controls" },
        h("div", { class: "fields" },
          h("div", { class: "field" }, h("span", { id: "order" }, "Order"), h("div", { class: "modes", role: "group", "aria-labelledby": "order" }, mode(false, "Best first"), mode(true, "Ranks by protocol"))),
          h("label", { class: "field" }, h("span", {}, "Search"), h("input", { type: "search", id: "search", value: state.search, placeholder: "name or paper", oninput: (event) => { state.search = event.target.value; remember(false); refresh(); } })),
          ofGames,
          h("div", { class: "narrow" }, select("Sort by", orders, state.sorting?.[0].id ?? "", (id) => { state.sorting = id ? [{ id, desc: !upFirst(id) }] : null; changed(); }, { id: "sort" })),
          h("label", { class: "field file" }, h("span", {}, "Your scores (CSV)"), h("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,text/csv", multiple: true, onchange: (event) => take(event.target.files) })),
          query() ? h("p", { class: "reset" }, link("#/", "Reset")) : null),
        h("details", { open: opened ?? narrowed > 0, ontoggle: (event) => { opened = event.target.open; } }, h("summary", {}, `Filters, measures and columns${narrowed ? ` (${narrowed} changed)` : ""}`),
          h("div", { class: "fields" }, by, of, OF_TASKS ? null : [facet("sticky", "Sticky actions"), facet("cap", "Frame cap"), facet("start", "Start")], facet("budget", `Training ${LENGTHS}`), facet("kind", "Kind"), facet("evidence", "Evidence")),
          h("div", { class: "checks" }, OF_TASKS ? null : flag("runnable", "Only protocols that you can run"), flag("complete", `Only with all ${view().games.length} ${NOUN}s`)),
          h("div", { class: "checks", role: "group", "aria-label": "Columns" }, h("span", { class: "weak" }, "Columns:"), COLUMNS.filter(present).map(({ id, title }) => box(title, chosen.includes(id), (on) => {
            const wanted = COLUMNS.map((one) => one.id).filter((one) => (one === id ? on : chosen.includes(one)));
            state.columns = COLUMNS.every((one) => Boolean(one.usual) === wanted.includes(one.id)) ? null : wanted;
          }, `column-${id}`)))));
    }

    /** Draw what depends on the state anew, the control that has the focus, too. */
    function redraw() {
      refresh();
      const focused = document.activeElement?.id;
      controls.replaceWith(controls = controlsNow());
      if (focused) document.getElementById(focused)?.focus();
    }

    function changed() {
      remember();
      redraw();
    }

    function refresh() {
      place.replaceChildren(...body());
      front.replaceChildren(fronts([...algorithms(makeTable()).keys()], 240));
    }

    const upFirst = (id) => id === "name" || (Object.hasOwn(STATISTICS, id) && !ascendingIsBetter(id)) || COLUMNS.find((one) => one.id === id)?.text;

    const classOf = ({ id, text, wide, figure: isFigure }) => `c-${id} ${text ? "" : "n "}${wide && !state.columns ? "wide " : ""}${isFigure && id === state.statistic ? "main" : ""}`;

    function heading(column) {
      const { id, title, meaning } = column, [sorted] = sorting(), mine = sorted?.id === id;
      const turn = () => {
        state.sorting = [{ id, desc: mine ? !sorted.desc : !upFirst(id) }];
        changed();
        place.querySelector(`button[data-column="${id}"]`)?.focus();
      };
      return h("th", { scope: "col", class: classOf(column), "aria-sort": mine ? (sorted.desc ? "descending" : "ascending") : null },
        h("button", { type: "button", "data-column": id, title: meaning, onclick: turn }, title));
    }

    function line(row, at, others = []) {
      const tick = (event) => { state.chosen[event.target.checked ? "add" : "delete"](row); remember(); place.querySelector(".chosen").replaceWith(chosenBar()); };
      const same = (other) => site.views.every(({ name }) => JSON.stringify(other.standings[name]?.summaries) === JSON.stringify(row.standings[name]?.summaries));
      const apart = others.filter((other) => !same(other)), sources = [...new Set([row, ...others.filter(same)].map((one) => site.papers[one.source_paper]?.short).filter(Boolean))];
      const worn = badges(row).filter((_, index) => row.badges[index] !== "as-published");
      return h("tr", { class: isYours(row) ? "yours" : null },
        h("td", { class: "tick" }, h("input", { type: "checkbox", checked: state.chosen.has(row), "aria-label": `Compare ${nameIn(row)}`, onchange: tick })),
        h("td", { class: `n ${state.ranks ? "rank" : "place"}` }, at ?? ""),
        h("th", { scope: "row", class: "who" }, who(row, nameIn(row)), worn.length ? h("span", { class: "badges" }, worn) : null,
          apart.length ? h("details", { class: "others" }, h("summary", {}, plural(apart.length, "other result")),
            sources.length ? h("small", {}, `Here as in ${sources.join(" and ")}.`) : null,
            h("ul", {}, apart.map((other) => h("li", {}, link(algorithmAt(other), titled(other)), ` ${value(other, state.statistic) === undefined ? "–" : percent(value(other, state.statistic))}, ${played(other)[0]}`)))) : null),
        columns().map((column) => h("td", { class: classOf(column) }, column.figure ? summaryCell(row, column.id) : column.cell(row))));
    }

    function present({ id }) {
      const has = (metric) => view().measures.some((item) => item.metric === metric);
      return (id !== "hwrns" || (has("hwrns") && measure().metric !== "hwrns")) && (id !== "records" || has("hwrns")) && (id !== "year" || !OF_TASKS);
    }

    function columns() {
      return COLUMNS.filter((column) => present(column) && (column.id === state.statistic || (state.columns ? state.columns.includes(column.id) : column.usual)));
    }

    function chosenBar() {
      const names = [...state.chosen].map((row) => part(row.name));
      return h("p", { class: "chosen" }, names.length < 2
        ? h("span", { class: "weak" }, "Tick two or more to compare them.")
        : [link(`#/compare/${names.join("/")}`, `Compare ${names.length} algorithms`), " ", h("button", { type: "button", class: "plain", onclick: () => { state.chosen.clear(); changed(); } }, "Untick all")]);
    }

    function body() {
      const those = makeTable(), width = columns().length + 3, merged = state.ranks ? null : algorithms(those);
      const groupsNow = [...new Set(those.map((row) => row.group))].sort((one, other) => (groups[other].yours ? 1 : 0) - (groups[one].yours ? 1 : 0) || one - other);
      const found = state.ranks ? ranks(makeTable("")) : places([...algorithms(makeTable("")).keys()]);
      const parts = merged
        ? [h("tbody", {}, [...merged].map(([row, others]) => line(row, found.get(row), others)))]
        : groupsNow.map((at) => {
          const mine = those.filter((row) => row.group === at), what = groups[at];
          const told = what.yours ? "Not ranked. Select their protocol above to rank them with others." : what.known ? caveat(mine) : `${WHY_NOT} ${caveat(mine)}`;
          return h("tbody", {}, h("tr", { class: "group" }, h("th", { colspan: width, scope: "rowgroup" }, h("div", { class: "stay" }, what.title, h("span", { class: "weak" }, ` · ${plural(mine.length, "result")}`), h("small", {}, told)))), mine.map((row) => line(row, found.get(row))));
        });
      const estimated = site.model && state.statistic === "median" && measure().metric === "hns";
      status.textContent = `${merged ? `${plural(merged.size, "algorithm")}, ` : ""}${plural(those.length, "result")} of ${rows.length} shown. ${measure().title} in percent: ${measure().meaning}. ${estimated ? `“est.”: estimated from the games played, with its ${Math.round(100 * site.model.level)} % interval. ` : ""}${state.ranks ? `Ranks are by the ${STATISTICS[state.statistic].toLowerCase()}, among results with the same protocol and every ${NOUN}.` : "The order is not a ranking, because protocols differ; one row per algorithm."}`;
      return [
        chosenBar(),
        ...(those.length ? [] : [nothing("#/")]),
        h("div", { class: "scroll board", tabindex: 0, role: "region", "aria-label": "All algorithms" },
          h("table", { id: "board" }, h("caption", { class: "unseen" }, "Algorithms with their summaries"),
            h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "tick" }, h("span", { class: "unseen" }, "Compare")), h("th", { scope: "col", class: "n" }, state.ranks ? "Rank" : h("abbr", { title: "Place among all rows; not a rank, because protocols differ" }, "#")), heading({ id: "name", title: "Algorithm", text: true }), columns().map(heading))), parts)),
      ];
    }

    function ownPart() {
      const own = rows.filter(isYours), dropped = own.filter((row) => row.dropped);
      if (!own.length && !state.message) return null;
      const message = state.message || `${plural(own.length, "algorithm")} given on the command line, marked “yours”. ${own.slice(0, 3).map(standingOf).join(" ")}`;
      const choices = groups.map((one, at) => [at, one.title]).filter(([at]) => groups[at].known || groups[at].yours);
      const remove = () => {
        for (const row of dropped) { rows.splice(rows.indexOf(row), 1); state.chosen.delete(row); }
        state.message = "";
        remember();
        draw();
      };
      return h("div", { class: `own ${state.failed ? "failed" : ""}`, role: state.failed ? "alert" : "status", id: "own" }, h("p", {}, message),
        own.length ? [dropped.length ? select("Yours were played with", choices, dropped[0].group, (at) => { for (const row of dropped) row.group = at; refresh(); }, { id: "played-as" }) : null,
          select("Compare with", [[null, "an algorithm …"], ...d3.sort(algorithms(rows.filter((row) => !isYours(row) && scored(row))).keys(), (row) => row.identity.toLowerCase()).map((row) => [row, row.identity])], null, (row) => { if (row) location.hash = `#/compare/${[...own.slice(0, 4), row].map((one) => part(one.name)).join("/")}`; }, { id: "against" }),
          h("button", { type: "button", class: "plain", onclick: () => place.querySelector("tr.yours")?.scrollIntoView({ block: "center" }) }, "Show in the table"), dropped.length ? h("button", { type: "button", class: "plain", onclick: remove }, "Remove yours") : null] : null);
    }

    let opened = null, controls = controlsNow();
    refresh();
    return ["Leaderboard", [
      h("h1", {}, site.views.length > 1 ? "Atari algorithms" : site.views[0].title),
      h("p", { class: "lead" }, `${plural(site.algorithms.length, "result")} with source, protocol and budget${OF_TASKS ? "" : ", by human-normalised score (HNS)"}. Drop a CSV of scores on the page to rank yours.`),
      front, controls, ownPart(), place, status,
    ]];
  }

  // An algorithm

  function algorithmPage(name = "") {
    const row = byName(name);
    if (!row) return missing("algorithm", name);
    const published = paper(row), where = site.papers[row.source_paper];
    const settings = Object.entries(row.settings).map(([key, text]) => [key, row.assumed.includes(key) ? `${text} (assumed)` : text]);
    const slips = site.errata.filter((slip) => slip.paper === row.source_paper && slip.algorithm && (slip.algorithm === row.name || slip.algorithm === row.identity || row.name.startsWith(`${slip.algorithm} (`)));
    const others = rows.filter((other) => other !== row && other.identity === row.identity && !isYours(row));
    const hns = site.views[0].measures[0], measured = OF_TASKS ? hns.title : "HNS";
    const scored = site.games.map((game) => ({ game, found: scoreOf(row, game.id) })).filter(({ found }) => found);
    const placed = scored.filter(({ game }) => arcademark.known(hns, game.id)).map(({ game, found }) => ({ game, value: arcademark.normalised(hns, game.id, found.score), score: found.score }));
    placed.sort((one, other) => other.value - one.value);
    return [titled(row), [
      h("h1", {}, titled(row)), h("p", { class: "badges" }, badges(row)),
      facts([
        ["Kind", row.kind], ["Published", published && [published.source.authors, ", ", outside(published.url, published.source.title), ", ", published.source.venue, ", ", published.source.year]],
        ["Scores from", row.source], ["Read in", where && where !== published ? [outside(where.url, where.short)] : ""], ["Collection", row.collection],
        [`Training ${LENGTHS}`, row.training_frames === null ? UNKNOWN : row.training_frames.toLocaleString("en")], ["Scores of", row.reported],
        [`Runs per ${NOUN}`, row.most_runs === 1 ? `1${row.pooled === "untrained" ? ", all seeds of what was never trained" : row.pooled ? ", all seeds of one network" : ""}: ${row.reaches.some((ends) => ends.length) ? "intervals are over its episodes" : "how far another run would differ is not known"}` : row.fewest_runs === row.most_runs ? row.most_runs : `${row.fewest_runs} to ${row.most_runs}`], ["Protocol", group(row).title],
        ["Replayed", row.replay && `${row.replay.confirmed.toLocaleString("en")} of ${plural(row.replay.episodes, "recorded episode")} gave their score again${row.replay.warnings.length ? `; ${row.replay.warnings.join("; ")}` : ""}`],
        ["Also", others.length ? others.map((other, at) => [at ? ", " : "", link(algorithmAt(other), titled(other))]) : ""], ["Note", row.note],
      ]),
      h("p", {}, link(`#/compare/${part(row.name)}`, "Compare with others")),
      section("Summaries", guessed(row), site.views.map((one) => byModel(row, one)), Object.entries(row.standings).map(([key, standing]) => [
        h("h3", {}, `Over ${standing.games === views.get(key).games.length ? `all ${plural(standing.games, NOUN)} of ${key}` : `${standing.games} of the ${plural(views.get(key).games.length, NOUN)} of ${key}`}${standing.records === null ? "" : `, ${standing.human_level} at human level, ${plural(standing.records, "record")} broken`}`),
        table([["Measure", ""], ...Object.values(STATISTICS).map((title) => [title, "n"])], views.get(key).measures.map((item) => ({
          cells: [h("abbr", { title: item.meaning }, item.title), ...Object.keys(STATISTICS).map((statistic) => withReach(standing.summaries[item.metric]?.[statistic] ?? []))],
        })), { label: `Summaries over ${key}` }),
      ])),
      placed.length ? section("Where it stands", figure(`${measured} by ${NOUN}, ${OF_TASKS ? hns.meaning : "0 % random play, 100 % the human average"}; point at a bar for its score.`, (width) => plot(width, `${measured} of ${row.name} by ${NOUN}`, {
        height: 60 + 16 * placed.length, marginLeft: 130, x: { ...spread(placed.map((one) => one.value)), label: `${measured} (%)` }, y: { domain: placed.map((one) => one.game.name), label: null, tickSize: 0 },
        marks: [Plot.barX(placed, { y: (one) => one.game.name, x: "value", fill: "var(--series-1)", fillOpacity: 0.75, href: (one) => gameAt(one.game.id), title: (one) => `${one.game.name}: ${points(one.score)} points, ${measured} ${percent(one.value)} %`, tip: true }), Plot.ruleX([100], { stroke: "var(--record)" })],
      }))) : null,
      row.curves.length ? section("Training", h("div", { class: "panels" }, row.curves.map((curve) => figure(nameOf(curve.game), (width) => plot(width, `Training on ${nameOf(curve.game)}`, {
        height: 180, x: { label: LENGTHS, tickFormat: "~s", ticks: 4 }, y: { label: "score", grid: true, ticks: 4, domain: around(curve.scores) },
        marks: [Plot.lineY(curve.frames.map((at, place) => ({ at, score: curve.scores[place] })), { x: "at", y: "score", stroke: "var(--series-1)", title: (one) => `${frames(Math.round(one.at))} ${LENGTHS}: ${points(one.score)}`, tip: true })],
      }))))) : null,
      row.films.length ? section("Episodes", h("div", { class: "panels" }, row.films.map(film))) : null,
      section("Scores", table([[TITLE, ""], ["Score", "n"], ["Runs", "n"], [measured, "n"], ...REFERENCES.map(([, title]) => [title, "n"]), ["Note", "prose"]], scored.map(({ game, found }) => ({
        cells: [link(gameAt(game.id), game.name), withReach([found.score, ...found.reach], points), found.runs.length, arcademark.known(hns, game.id) ? percent(arcademark.normalised(hns, game.id, found.score)) : "–",
          ...REFERENCES.map(([kind]) => (kind in game.references ? points(game.references[kind]) : "–")),
          [game.id in row.published ? `${points(row.published[game.id])} in the source. ` : "", row.notes[game.id] ?? ""]],
      })), { label: `Scores of ${row.name}` })),
      settings.length ? section("Settings", facts(settings)) : null,
      slips.length ? section("Errata", errataList(slips)) : null,
    ]];
  }

  /** What a few games tell, or would have told, of all. */
  function guessed(row) {
    const between = ([value, low, high], level) => `${percent(value)} %${low === undefined || low === null ? "" : ` (${Math.round(100 * level)} %: ${percent(low)} to ${percent(high)})`}`;
    if (row.estimate) {
      const { value, low, high, level, title, suite, covered } = row.estimate;
      return h("p", { class: "guess" }, h("strong", {}, `Estimated median HNS over ${suite}, from ${title}: ${value === null ? belowOf(row.estimate) : between([value, low, high], level)}. `), covered === null ? "" : `Such intervals cover the medians of ${covered.count} of ${covered.total} published algorithms (${Math.round(100 * covered.by_group)} % by paper). `, doubts(row).join(" "));
    }
    return row.predicted.length ? h("p", {}, `From the games of ${site.predicted_from} alone, and without its paper, its median would have been estimated as ${between(row.predicted, site.model.level)}. `, link("#/predicted", "All such estimates")) : null;
  }

  /** What a subset's published model tells: the sum of its coefficients times log₁₀(1 + HNS), and back. */
  function byModel(row, { title, suite, games, measures: [item], coefficients }) {
    const found = coefficients.map((weight, at) => weight * Math.log10(1 + Math.max(0, arcademark.normalised(item, games[at], scoreOf(row, games[at])?.score ?? NaN))));
    const told = 10 ** d3.sum(found) - 1;
    return found.length && !found.some(Number.isNaN) ? h("p", {}, `By the published model of ${title}, from its ${plural(found.length, NOUN)}, the median HNS over ${suite} would be ${percent(told)} %.`) : null;
  }

  function film(item) {
    const place = h("div", { class: "film" });
    const seconds = Math.round(item.shown / 60), whole = item.shown >= item.frames;
    const told = `${nameOf(item.game)}, seed ${item.seed}, episode ${item.episode}, ${points(item.score)} points${whole ? "" : `: the first ${seconds} s of ${Math.round(item.frames / 60)}`}`;
    const button = h("button", { type: "button", "aria-pressed": "false", onclick: () => {
      const on = button.getAttribute("aria-pressed") === "true";
      button.setAttribute("aria-pressed", String(!on));
      place.replaceChildren(...(on ? [] : [h("img", { src: item.file.split("/").map(part).join("/"), alt: told })]));
    } }, "Play");
    return h("figure", {}, place, h("figcaption", {}, button, " ", told));
  }

  const errataList = (slips) => h("ul", { class: "notes" }, slips.map((slip) => h("li", {}, h("strong", {}, `${site.papers[slip.paper]?.short ?? slip.paper}: ${slip.where}. `), `Printed ${slip.printed}, holds ${slip.holds}. ${slip.why}`)));

  // Games

  const legendOf = (those) => h("p", { class: "legend" }, those.map(([text, kind]) => h("span", {}, h("i", { class: `stroke ${kind}` }), text)));

  /** Ticks of an axis of years: whole ones, where d3 has halves of few. */
  const years = (first, last, count) => d3.ticks(first, last, count).filter(Number.isInteger);

  /** Ticks of a symlog scale that are apart: 0, and powers of ten from about its constant on. */
  function ticksOf(constant, values) {
    const [low, high] = d3.extent([0, ...values]), most = Math.max(-low, high), powers = d3.range(Math.ceil(Math.log10(constant)), Math.floor(Math.log10(most)) + 1).map((power) => 10 ** power);
    const all = [0, ...powers, ...powers.map((tick) => -tick)].filter((tick) => tick >= low && tick <= high);
    return all.length > 2 ? all : d3.ticks(low, high, 5);
  }

  function gamesPage() {
    const lines = site.games.map((game) => {
      const those = rows.map((row) => ({ row, found: scoreOf(row, game.id) })).filter(({ found }) => found);
      const best = those.reduce((one, other) => (one && one.found.score >= other.found.score ? one : other), null);
      const reference = (kind) => (kind in game.references ? points(game.references[kind]) : "–");
      return { cells: [link(gameAt(game.id), game.name), ...(OF_TASKS ? [] : [game.genre]), ...REFERENCES.map(([kind]) => reference(kind)), best ? [points(best.found.score), h("small", {}, link(algorithmAt(best.row), attributed(best.row)))] : "–", those.length] };
    });
    return [`${TITLE}s`, [h("h1", {}, `${TITLE}s`), h("p", { class: "lead" }, "The highest score is over all results on these pages, of any protocol."),
      table([[TITLE, ""], ...(OF_TASKS ? [] : [["Genre", ""]]), ...REFERENCES.map(([, title]) => [title, "n"]), ["Highest", "n"], ["Scores", "n"]], lines, { label: `${TITLE}s` })]];
  }

  function gamePage(id = "") {
    const game = games.get(id);
    if (!game) return missing(NOUN, id);
    const hns = site.views[0].measures[0];
    const those = rows.map((row) => ({ row, found: scoreOf(row, id) })).filter(({ found }) => found).sort((one, other) => other.found.score - one.found.score);
    const dated = those.filter(({ row }) => row.year).map(({ row, found }) => ({ row, year: row.year, score: found.score })).sort((one, other) => one.year - other.year || other.score - one.score);
    const front = dated.filter((one, at) => dated.slice(0, at).every((other) => other.score < one.score)), today = Math.max(new Date().getFullYear(), ...dated.map((one) => one.year));
    const slips = site.errata.filter((slip) => slip.game === id);
    const marks = REFERENCES.filter(([kind]) => kind in game.references).map(([kind, , title, colour]) => [game.references[kind], title, colour]);
    const high = dated.map((one) => one.score).filter((score) => score > 0).sort((one, other) => one - other);
    const scale = Math.max(1, (high[high.length >> 1] ?? 1) / 2);
    return [game.name, [
      h("h1", {}, game.name), game.hard_exploration && h("p", { class: "badges" }, h("span", { class: "badge" }, "hard exploration")),
      facts([["Genre", game.genre], ...marks.map(([score, title]) => [title[0].toUpperCase() + title.slice(1), points(score)])]),
      game.anomalies.length ? h("div", { class: "warnings", role: "note" }, h("h2", {}, "What is odd about it"), h("ul", {}, game.anomalies.map((one) => h("li", {}, `${ANOMALIES[one.kind](one.value)} ${one.note} (${one.source})`)))) : null,
      dated.length ? section("The record over time", legendOf([["best score so far", "line"], ...marks.map(([score, title], at) => [`${title} ${points(score)}`, REFERENCES[at][0]])]),
        figure(`Scores by year of publication, of any protocol; the line is the best so far, planners and human starts included, held today by ${attributed(front.at(-1).row)} with ${points(front.at(-1).score)} points. Point at a dot for its name. ${footnotes(front.map(({ row }) => row))}`.trim(), (width) => {
          const record = [...front, { year: today, score: front.at(-1).score }], options = {
            height: 380, marginTop: 28, x: { label: "year", tickFormat: "d", inset: 12, ticks: years(dated[0].year, today, width < 600 ? 4 : 8), domain: [dated[0].year, today] },
            y: { type: "symlog", constant: scale, grid: true, label: "points", tickFormat: (tick) => `${tick < 0 ? "−" : ""}${frames(Math.abs(tick))}`, ticks: ticksOf(scale, [...dated.map((one) => one.score), ...marks.map(([score]) => score)]) },
            marks: [
              ...marks.map(([score, , colour]) => Plot.ruleY([score], { stroke: colour, strokeDasharray: "4 3", strokeWidth: 1.5 })),
              Plot.lineY(record, { x: "year", y: "score", stroke: "var(--series-1)", strokeWidth: 1.8, curve: "step-after" }),
              Plot.dot(dated, { x: "year", y: "score", r: 3, fill: "var(--series-1)", fillOpacity: 0.6, href: (one) => algorithmAt(one.row), title: (one) => `${shown(attributed(one.row))}, ${one.year}: ${points(one.score)}\n${shown(group(one.row).title)}`, tip: true }),
            ],
          };
          const placed = (those) => those.map(({ row, year, score }) => ({ name: row && nameOn(row), at: year, value: score }));
          return named(width, `Scores in ${game.name} by year`, options, placed(front.toReversed()), placed(dated), placed(record));
        })) : null,
      section("All scores", h("p", { class: "small" }, "In order of score and not ranked: protocols differ."),
        table([["Algorithm", "who"], ["Score", "n"], [OF_TASKS ? hns.title : "HNS", "n"], ["Runs", "n"], [LENGTHS_TITLE, "n"], ["Year", "n"], ["Protocol", "prose"]], those.map(({ row, found }) => ({
          kind: isYours(row) ? "yours" : null,
          cells: [who(row), withReach([found.score, ...found.reach], points), arcademark.known(hns, id) ? percent(arcademark.normalised(hns, id, found.score)) : "–", found.runs.length, row.training_frames === null ? "–" : frames(row.training_frames), row.year ?? "–", group(row).title],
        })), { label: `Scores in ${game.name}` })),
      slips.length ? section("Errata", errataList(slips)) : null,
    ]];
  }

  // Algorithms against each other

  function comparePage(...names) {
    const those = [...new Set(names.map(byName).filter(Boolean))], absent = names.filter((name) => !byName(name));
    const to = (list) => `#/${["compare", ...list.map((row) => part(row.name))].join("/")}${query()}`;
    const others = rows.filter((row) => !those.includes(row)).sort((one, other) => one.name.localeCompare(other.name));
    const head = [
      h("h1", {}, those.length ? those.map(titled).join(" against ") : "Compare"),
      h("div", { class: "fields" }, select("Add", [[null, "an algorithm …"], ...others.map((row) => [row, attributed(row)])], null, (row) => { if (row) location.hash = to([...those, row]); }, { id: "add" }), those.length ? measuredBy(draw) : null),
      those.length ? h("p", { class: "chosen" }, those.map((row) => h("button", { type: "button", class: "plain", "aria-label": `Leave ${titled(row)} out`, onclick: () => { location.hash = to(those.filter((other) => other !== row)); } }, `${titled(row)} ×`))) : null,
      absent.length ? h("div", { class: "warnings", role: "note" }, h("p", {}, `There is no algorithm ${absent.join(", ")} on these pages.`)) : null,
    ];
    if (those.length < 2) return ["Compare", [...head, proposed(those[0])]];
    const item = measure();
    const common = view().games.filter((id) => those.every((row) => scoreOf(row, id)));
    const runs = those.map((row) => runsOf(row, common));
    const placed = common.filter((id) => arcademark.known(item, id));
    const keys = [...new Set(those.flatMap((row) => Object.keys(row.settings)))].filter((key) => new Set(those.map((row) => row.settings[key] ?? UNKNOWN)).size > 1);
    const alike = new Set(those.map((row) => row.group)).size === 1 && group(those[0]).known;
    const blocks = [...head];
    if (!alike) {
      blocks.push(h("div", { class: "warnings", role: "note" }, h("p", {}, "Not known to be comparable: protocols differ, or are unknown. A difference may come from the protocols instead of the algorithms.")));
    }
    if (!placed.length) return ["Compare", [...blocks, h("p", {}, `They have no ${NOUN} of ${view().name} in common for which ${item.title} is defined.`)]];
    const found = runs.map((mine, at) => arcademark.reaches(item, mine, at + 1)), alone = those.map((_, at) => Object.values(runs[at]).every((one) => one.length === 1)), singles = those.filter((_, at) => alone[at]).map(titled), paired = those.length - singles.length > 1;
    const apart = those.length === 2 && arcademark.differences(item, ...runs);
    const lone = singles.length ? `A single run of ${singles.length === those.length ? "each" : singles.join(", ").replace(/, (?=[^,]*$)/, " and ")} is known, so there is no interval. ` : "", sure = `${Math.round(100 * site.intervals.confidence)} %`;
    const lines = those.map((row, at) => ({
      kind: isYours(row) ? "yours" : null,
      cells: [who(row), ...Object.keys(STATISTICS).map((key) => withReach(found[at][key])), row.training_frames === null ? "–" : frames(row.training_frames), alone[at] ? "1" : row.most_runs],
    }));
    if (apart) lines.push({ cells: ["Difference", ...Object.keys(STATISTICS).map((key) => withReach(apart[key])), "", ""] });
    blocks.push(section(`Summaries over the ${plural(placed.length, NOUN)} that all have`, table([["Algorithm", "who"], ...Object.values(STATISTICS).map((title) => [title, "n"]), [LENGTHS_TITLE, "n"], ["Runs", "n"]], lines, { label: "Summaries" }),
      h("p", { class: "small" }, `${item.title}, in percent. ${alone.every(Boolean) ? "" : `Intervals are ${sure}, from 2,000 draws of the runs. `}${lone}`), those.every((row) => row.collection) ? [h("p", { class: "small" }, `Tests ${NOUN} by ${NOUN}, and how many runs they take:`), h("pre", { class: "commands" }, `arcademark compare catalogue:${site.collections.join(",")} ${those.map((row) => `'${row.name.replaceAll("'", "'\\''")}'`).join(" ")}`)] : null));
    const beats = (at, other) => {
      if (alone[at] || alone[other]) return `${common.filter((id) => arcademark.mean(runs[at][id]) > arcademark.mean(runs[other][id])).length} of ${plural(common.length, NOUN)}`;
      return withReach(arcademark.improvementReach(runs[at], runs[other]).map((share) => 100 * share), (share) => `${number(share, 1)} %`);
    };
    blocks.push(section(paired ? "Probability of improvement" : "Who is ahead", h("p", { class: "small" }, [
      paired ? `Probability that a run of the row's algorithm beats one of the column's on a random ${NOUN} that both have, with its ${sure} interval. ` : "",
      singles.length ? `${paired ? "Where one has a single run: on" : "On"} how many ${NOUN}s the row's is ahead of the column's.` : "",
    ]), table([["Ahead", "who"], ...those.map((row) => [titled(row), "n"])], those.map((row, at) => ({ cells: [who(row), ...those.map((_, other) => (at === other ? "" : beats(at, other)))] })), { label: "Who is ahead, by pairs" })));
    const shownFirst = those.slice(0, 5), reach = Math.max(...shownFirst.flatMap((_, at) => placed.map((id) => Math.max(...runs[at][id].map((score) => arcademark.normalised(item, id, score))))));
    const thresholds = profileAt(reach);
    blocks.push(section("Performance profiles", legend(shownFirst.map(attributed)), figure(`The share of runs above each ${item.title}, every ${NOUN} weighing the same. Point at a line for its value.${those.length > 5 ? " The first five." : ""}`, (width) => profiles(width, item, shownFirst.map((row, at) => [row, runs[at]]), thresholds))));
    blocks.push(section(`Which ${NOUN}s decide`, those.length === 2 ? deciding(those, runs, placed, item) : everyGame(those, runs, common)));
    if (keys.length) blocks.push(section("How their protocols differ", table([["Setting", ""], ...those.map((row) => [titled(row), ""])], keys.map((key) => ({ cells: [key, ...those.map((row) => row.settings[key] ?? UNKNOWN)] })), { label: "Settings" })));
    return ["Compare", blocks];
  }

  /**
   * Pairs to begin with: of one algorithm or, where none is named, of one's own and of all, with the nearest by the summary,
   * those first that were played alike and trained for as many frames.
   */
  function proposed(wanted) {
    const score = (row) => value(row, state.statistic), alike = (one, other) => group(one).known && one.group === other.group, equal = (one, other) => one.training_frames === other.training_frames;
    const able = rows.filter((row) => score(row) !== undefined), own = rows.filter(isYours);
    const nearest = (row, those) => d3.least(those.filter((other) => !isYours(other) && other.identity !== row.identity && view().games.some((id) => scoreOf(row, id) && scoreOf(other, id))), (other) => Math.abs(Math.log((Math.max(score(other), 0) + 10) / (Math.max(score(row) ?? 0, 0) + 10))));
    const far = (row) => [able.filter((other) => alike(row, other) && equal(row, other)), able.filter((other) => alike(row, other)), able].map((those) => nearest(row, those));
    const neighbours = d3.groups(able.filter((row) => group(row).known && row.training_frames !== null), (row) => row.group, (row) => row.training_frames).flatMap(([, budgets]) => budgets.map(([, those]) => those))
      .flatMap((those) => d3.pairs(d3.sort(d3.groups(those, (row) => row.identity).map(([, [first]]) => first), (row) => -score(row))).slice(0, 3)).sort((one, other) => score(other[0]) - score(one[0]));
    const first = (wanted ? [wanted] : own).flatMap((row) => far(row).filter((other, at, all) => other && all.indexOf(other) === at).map((other) => [row, other]));
    const pairs = (wanted ? [...first, ...d3.sort(able.filter((other) => other !== wanted && alike(wanted, other)), (other) => Math.abs(score(other) - (score(wanted) ?? 0))).map((other) => [wanted, other])] : [...first, ...neighbours])
      .filter((pair, at, all) => all.findIndex((other) => other.every((row, place) => row.identity === pair[place].identity)) === at).slice(0, 10);
    const how = ([one, other]) => (!alike(one, other) ? "not played alike, or it is not known how" : `${group(one).title}${one.training_frames === null || !equal(one, other) ? `; trained for other numbers of ${LENGTHS}` : one.training_frames ? `, ${frames(one.training_frames)} ${LENGTHS}` : ""}`);
    return pairs.length ? section("Pairs to begin with", h("p", { class: "small" }, `Neighbours by ${STATISTICS[state.statistic].toLowerCase()} ${measure().title}${wanted ? "" : `, with the same protocol and training ${LENGTHS}`}. Or choose any above.`),
      h("ul", { class: "notes" }, pairs.map((pair) => h("li", {}, link(`#/compare/${pair.map((row) => part(row.name)).join("/")}`, pair.map(titled).join(" against ")), h("span", { class: "weak" }, ` · ${how(pair)}`))))) : h("p", {}, "Choose two algorithms or more.");
  }

  const profileAt = (reach) => {
    const end = Math.min(Math.max(reach, 1), 2000);
    return Array.from({ length: 201 }, (_, step) => (step / 200) * end);
  };

  function profiles(width, item, those, thresholds) {
    const lines = those.flatMap(([row, runs], at) => arcademark.profile(item, runs, thresholds).map((share, place) => ({ at, name: attributed(row), bar: thresholds[place], share: 100 * share })));
    return plot(width, `Performance profiles of ${those.map(([row]) => titled(row)).join(", ")}`, {
      height: 340, x: { label: `${item.title} (%)`, inset: 4 }, y: { label: "runs above (%)", domain: [0, 100], grid: true },
      marks: [
        ...those.map((_, at) => Plot.lineY(lines.filter((one) => one.at === at), { x: "bar", y: "share", stroke: SERIES[at % 5], strokeDasharray: DASHES[at % 5], strokeWidth: 1.8 })),
        Plot.tip(lines, Plot.pointer({ x: "bar", y: "share", title: (one) => `${shown(one.name)}\n${number(one.share, 1)} % of runs above ${number(one.bar, 0)} %` })),
      ],
    });
  }

  function deciding([first, second], [one, other], placed, item) {
    const apart = (ids) => {
      const [mine, theirs] = [one, other].map((runs) => arcademark.summaries(item, Object.fromEntries(ids.map((id) => [id, runs[id]]))));
      return mine[state.statistic] - theirs[state.statistic];
    };
    const whole = apart(placed);
    const lines = placed.map((id) => {
      const [mine, theirs] = [arcademark.mean(one[id]), arcademark.mean(other[id])];
      const difference = arcademark.normalised(item, id, mine) - arcademark.normalised(item, id, theirs);
      const without = placed.length > 1 ? apart(placed.filter((task) => task !== id)) : null;
      return { id, mine, theirs, difference, without, chance: Math.min(one[id].length, other[id].length) > 1 ? arcademark.improvement(one[id], other[id]) : null };
    }).sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference));
    const tested = lines.some((line) => line.chance !== null);
    return [
      h("p", {}, `${titled(first)} is ahead on ${lines.filter((line) => line.difference > 0).length} of ${plural(lines.length, NOUN)}. The ${STATISTICS[state.statistic].toLowerCase()} differs by ${percent(whole)}; the last column is what is left of that without the ${NOUN}, bold where the order turns.`),
      table([[TITLE, ""], [titled(first), "n"], [titled(second), "n"], [`Difference, ${item.title}`, "n"], ...(tested ? [["Improvement", "n"]] : []), ["Without it", "n"]], lines.map((line) => ({
        cells: [link(gameAt(line.id), nameOf(line.id)), points(line.mine), points(line.theirs), percent(line.difference), ...(tested ? [line.chance === null ? h("span", { class: "weak" }, "single run") : `${number(100 * line.chance, 0)} %`] : []), line.without === null ? "–" : line.without * whole < 0 ? h("strong", {}, percent(line.without)) : percent(line.without)],
      })), { label: `${TITLE}s that decide` }),
    ];
  }

  const everyGame = (those, runs, common) => table([[TITLE, ""], ...those.map((row) => [titled(row), "n"])], common.map((id) => {
    const scores = runs.map((mine) => arcademark.mean(mine[id])), most = Math.max(...scores);
    return { cells: [link(gameAt(id), nameOf(id)), ...scores.map((score) => (score === most ? h("strong", {}, points(score)) : points(score)))] };
  }), { label: `Scores by ${NOUN}` });

  // Plots

  const BESIDE = [[8, 0, "start"], [-8, 0, "end"], [0, -11, "middle"], [0, 11, "middle"], [7, -10, "start"], [-7, -10, "end"], [7, 10, "start"], [-7, 10, "end"]];
  /** Names beside points, or along the line across of those that have one, the first first: where no other name, no point, no step of the line and no edge is in the way. */
  function labels(points, all, line, width, height) {
    const pen = document.createElement("canvas").getContext("2d"), taken = all.map(({ x, y }) => [x - 4, y - 4, x + 4, y + 4]), placed = [];
    for (const [{ x, y }, next] of d3.pairs(line)) taken.push([x, y - 1, next.x, y + 1], [next.x - 1, Math.min(y, next.y), next.x + 1, Math.max(y, next.y)]);
    pen.font = "600 11.5px system-ui, sans-serif";
    for (const point of points) {
      if (placed.length > width / 40) break;
      const wide = pen.measureText(point.name).width + 2;
      const fits = (point.across ? d3.range(60 - point.x, width - point.x, 16).flatMap((dx) => [[dx, -9, "start"], [dx, 9, "start"]]) : BESIDE).map(([dx, dy, anchor]) => {
        const left = point.x + dx - (anchor === "end" ? wide : anchor === "middle" ? wide / 2 : 0);
        return { point, dx, dy, anchor, box: [left, point.y + dy - 7, left + wide, point.y + dy + 7] };
      }).find(({ box: [left, top, right, bottom] }) => left > 54 && right < width - 4 && top > 2 && bottom < height - 40
        && !taken.some((other) => left < other[2] && other[0] < right && top < other[3] && other[1] < bottom));
      if (fits) { taken.push(fits.box); placed.push(fits); }
    }
    return placed;
  }

  /** Draw a figure with names on as many points as there is room for, of which each has a place `at` and a `value`. */
  function named(width, label, options, points, all, line) {
    const [x, y] = ["x", "y"].map((axis) => plot(width, label, options).scale(axis).apply);
    const names = labels(...[points, all, line].map((some) => some.map((point) => ({ ...point, x: x(point.at), y: y(point.value) }))), width, options.height).map(({ point, dx, dy, anchor }) => Plot.text([point], {
      x: "at", y: "value", text: "name", dx, dy, textAnchor: anchor, lineAnchor: "middle", fontSize: 11.5, fontWeight: point.bold ? 600 : 400, fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 3,
    }));
    return plot(width, label, { ...options, marks: [...options.marks, ...names] });
  }

  const DOTS = { runnable: "var(--series-1)", yours: "var(--series-2)" };
  const POWERS = Array.from({ length: 10 }, (_, at) => 10 ** (at + 3));

  const LEFT_OUT = [
    [(row) => row.kind === "planning", (count) => plural(count, "planner")],
    [(row) => setting(row, "start") === "human", (count) => `${plural(count, "result")} from human starts`],
    [(row) => !nearlyWhole(row), (count) => `${plural(count, "result")} with fewer than 90 % of the ${NOUN}s`],
  ];

  /** Say which rows a figure's line of the best leaves out, and how many have no place in it, by their numbers. */
  function leftOut(every, those, of, what) {
    const placed = those.filter((row) => of(row) > 0), kinds = placed.map((row) => LEFT_OUT.findIndex(([is]) => is(row)));
    const counts = LEFT_OUT.map(([, told], at) => [kinds.filter((kind) => kind === at).length, told]).filter(([count]) => count);
    const together = (texts) => texts.join(", ").replace(/, (?=[^,]*$)/, " and ");
    const none = those.filter((row) => of(row) === 0).length, unknown = those.length - placed.length - none;
    const vague = every.length - those.length, summary = `${/^[aeio]/i.test(STATISTICS[state.statistic]) ? "an" : "a"} ${AGGREGATES.find(({ name }) => name === state.statistic).title}`;
    const missing = [vague && `${number(vague, 0)} without ${summary}`, unknown && `${number(unknown, 0)} of unknown ${what}`, none && `${number(none, 0)} without training`].filter(Boolean);
    return [
      counts.length ? `It leaves out ${together(counts.map(([count, told]) => told(count)))}.` : "",
      missing.length ? `Not drawn: ${together(missing)}.` : "",
    ].filter(Boolean).join(" ");
  }

  /** Scores by year and by training, the best joined by a line: of these rows, names on the points. */
  function fronts(those, height) {
    const item = measure(), better = ascendingIsBetter(state.statistic) ? 1 : -1, title = `${STATISTICS[state.statistic]} ${item.title} (%)`;
    const found = those.map((row) => ({ row, value: value(row, state.statistic), name: nameOn(row), kind: isYours(row) ? "yours" : played(row)[1] })).filter((one) => one.value !== undefined);
    const told = ({ row, ...one }) => [attributed(row), `${title.replace(" (%)", "")} ${percent(one.value)} %${estimateOf(row, state.statistic) ? ` (est. ${summary(row, state.statistic).slice(1).map(percent).join(" to ")})` : ""}`,
      played(row)[0], row.training_frames === null ? null : `${frames(row.training_frames)} ${LENGTHS}`, paper(row)?.short ?? row.source].filter(Boolean).map(shown).join("\n");
    const one = (label, caption, of, scale) => {
      const data = found.filter(({ row }) => of(row) > 0).map((point) => ({ ...point, at: of(point.row) })).sort((a, b) => a.at - b.at || better * (b.value - a.value));
      const may = data.filter(({ row }) => !isYours(row) && !LEFT_OUT.some(([is]) => is(row)));
      const front = may.filter((point, at) => may.slice(0, at).every((other) => better * (point.value - other.value) > 0));
      const line = [...front, ...front.slice(-1).map((point) => ({ ...point, at: data.at(-1).at }))], mine = found.filter(({ row }) => isYours(row)).map((point) => ({ ...point, at: data[0]?.at, across: true, bold: true }));
      const [every, others] = [those, found.map(({ row }) => row)].map((some) => some.filter((row) => !isYours(row)));
      const sentences = [caption, leftOut(every, others, of, label), mine.length ? `${mine.length > 1 ? "The horizontal lines are" : "The horizontal line is"} yours; the best so far leaves ${mine.length > 1 ? "them" : "it"} out.` : "", footnotes(data.map(({ row }) => row))];
      return data.length < 2 ? null : figure(sentences.filter(Boolean).join(" "), (width) => {
        const options = { height, marginTop: 24, marginBottom: 42, x: { label, labelOffset: 34, inset: 14, ...scale(width, data.map((point) => point.at)) }, y: { ...spread([...data, ...mine].map((point) => point.value)), label: title } };
        const marks = [
          Plot.ruleY([100], { stroke: "var(--record)", strokeDasharray: "4 3" }),
          Plot.line(line, { x: "at", y: "value", stroke: "var(--series-1)", strokeWidth: 1.6, curve: "step-after" }),
          Plot.ruleY(mine, { y: "value", stroke: "var(--series-2)", strokeWidth: 1.6 }),
          Plot.dot(data, { x: "at", y: "value", r: 3.5, stroke: ({ kind }) => DOTS[kind] ?? "var(--muted)", fill: ({ kind }) => DOTS[kind] ?? "var(--paper)", href: ({ row }) => algorithmAt(row), title: told, tip: true }),
        ];
        const first = data.filter(({ row }) => nearlyWhole(row) && !isYours(row)).sort((a, b) => front.includes(b) - front.includes(a) || (b.kind === "runnable") - (a.kind === "runnable") || better * (b.value - a.value));
        return named(width, `${title} by ${label}`, { ...options, marks }, [...mine, ...first.map((point) => ({ ...point, bold: front.includes(point) }))], data, line);
      });
    };
    return h("div", { class: "fronts", role: "group", "aria-label": "Plots" }, [
      one("year", `The line is the best so far.${OF_TASKS ? "" : " Filled dots have a protocol that you can run."} Point at a dot for details.`, (row) => row.year, (width, all) => ({ tickFormat: "d", ticks: years(all[0], all.at(-1), width < 600 ? 5 : 10) })),
      one(`training ${LENGTHS}`, `The line is the best so far by training ${LENGTHS}, where these are known.`, (row) => row.training_frames, (_, [first, ...more]) => ({ type: "log", ticks: POWERS.filter((power) => power >= first && power <= more.at(-1)), tickFormat: frames })),
    ]);
  }

  function plotsPage() {
    const item = measure(), those = [...algorithms(makeTable()).keys()];
    const best = those.filter((row) => nearlyWhole(row) && value(row, state.statistic) !== undefined).sort((one, other) => (ascendingIsBetter(state.statistic) ? 1 : -1) * (value(other, state.statistic) - value(one, state.statistic)));
    const chosen = (state.chosen.size > 1 ? [...state.chosen] : best).slice(0, 5), runs = chosen.map((row) => [row, runsOf(row, view().games)]);
    const head = [h("h1", {}, "Plots"), h("div", { class: "fields" }, measuredBy(draw))];
    if (!those.length) return ["Plots", [...head, nothing("#/plots")]];
    return ["Plots", [
      ...head,
      h("p", { class: "lead" }, `The ${plural(those.length, "algorithm")} that the table shows, of any protocol and ${NOUN}s: filter there first. A dot is an algorithm, and leads to its page.`),
      fronts(those, 420),
      chosen.length ? section("Performance profiles", legend(chosen.map(attributed)), figure(`The share of runs above each ${item.title}, over the ${NOUN}s that each has: of those ticked in the table or, where none are, the five highest.`, (width) => profiles(width, item, runs, profileAt(2000)))) : null,
      section(`${TITLE}s and algorithms`, heatLegend(item), figure(`${item.title} of every algorithm with at least 90 % of the ${NOUN}s, from the highest ${STATISTICS[state.statistic].toLowerCase()} down. Point at a cell for its score. ${footnotes(best)}`.trim(), (width) => heat(width, item, best))),
    ]];
  }

  const HEAT = [[0, OF_TASKS ? "not above 0 %" : "not above random"], [50, "to 50 %"], [100, "to 100 %"], [500, "to 500 %"], [Infinity, "more"]];
  const heatLegend = () => h("p", { class: "legend" }, HEAT.map(([, text], at) => h("span", {}, h("i", { class: `heat-${at}` }), text)));

  function heat(width, item, those) {
    const ids = view().games.filter((id) => arcademark.known(item, id));
    const cells = those.flatMap((row) => ids.map((id) => ({ row, id, found: scoreOf(row, id) })).filter((one) => one.found).map((one) => ({ ...one, value: arcademark.normalised(item, one.id, one.found.score) })));
    const names = new Map(those.map((row, at) => [row, `${at} ${nameOn(row)}`]));
    const drawn = plot(Math.max(width, 315 + 11 * ids.length), `${item.title} by ${NOUN} and algorithm`, {
      height: 190 + 15 * those.length, marginLeft: 225, marginTop: 150, marginRight: 90, padding: 0.04,
      x: { domain: ids, axis: "top", label: null, tickFormat: nameOf, tickRotate: -90, tickSize: 0 },
      y: { domain: [...names.values()], label: null, tickFormat: (name) => name.slice(name.indexOf(" ") + 1), tickSize: 0 },
      marks: [Plot.cell(cells, { x: "id", y: (one) => names.get(one.row), fill: (one) => `var(--heat-${HEAT.findIndex(([most]) => one.value <= most)})`, title: (one) => `${shown(attributed(one.row))}, ${nameOf(one.id)}\n${points(one.found.score)} points, ${item.title} ${percent(one.value)} %`, tip: true })],
    });
    return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Heat map" }, drawn);
  }

  const nameOn = (row) => `${shortened(isYours(row) ? row.name : row.identity)}${markOf(row)}`;
  const shortened = (name) => shown(name.length > 30 ? `${name.slice(0, 29)}…` : name);

  // About

  function aboutPage() {
    return ["About", [
      h("h1", {}, "About these numbers"),
      section("What is shown", h("ul", {}, [
        `A score is normalised between two references: ${OF_TASKS ? "those of the suite's file" : "with HNS, 0 % is random play and 100 % the human average; with HWRNS, 100 % is the human world record"}. Mean and median are over ${NOUN}s, of each one's mean over runs; IQM and optimality gap are over runs.`,
        ...site.notices.filter((notice) => ["intervals", "runs"].includes(notice.kind)).map((notice) => notice.text),
        `The table opens with one row per algorithm, best median first. Of several results for an algorithm it prefers those with nearly all ${NOUN}s, without human starts, and of the earliest paper; the others are listed below its name. This order is not a ranking, as protocols differ: each row's badge gives the settings.`,
        `Ranks are given only within a group of equal settings: ${OF_TASKS ? "the same protocol" : "the same sticky actions, frame cap and starts, all known, without or with planning on the emulator"}; and only among algorithms that have every ${NOUN}. All other rows are shown without a rank. “Ranks by protocol”, above the table, shows them.`,
        site.model ? "Where some of the 57 games were not played, the median HNS is estimated from those that were, with an interval for algorithms of another paper, and marked “est.”; a question mark marks a doubtful estimate; point at it for the reason. If the upper bound exceeds ten times the lower one, only the interval is shown." : null,
        `Other summaries are shown for algorithms with at least 90 % of the ${NOUN}s.`,
        "The page's address encodes the order, filters, columns and ticks, so a link reproduces the view.",
      ].filter(Boolean).map((text) => h("li", {}, text)))),
      section("Badges", facts(Object.values(BADGES).map(([name, meaning]) => [name, meaning]))),
      section("Your own scores", h("p", {}, `Drop a file on the table's page, or choose one there: one row per score with the columns algorithm, ${NOUN}, score and, of several runs, run; or a table of ${NOUN} × algorithm or algorithm × ${NOUN}. Your browser reads it and computes what 'arcademark report' computes, including the estimate from a few games. Nothing leaves your machine.`)),
      OF_TASKS ? null : section("Submit a run", h("p", {}, "A submission is a run's directory. 'arcademark catalogue submit RUN' replays every recorded episode and, if all scores are reproduced, writes the files that a maintainer adds to the catalogue."),
        h("p", {}, `A rank needs all 57 games, an estimate any number; “Predicted and true” gives the errors for five, ten and fourteen games. At 200M frames per game, five games are 1B frames and 57 are 11.4B; at 5,000 frames per second that takes 2.3 and 26 days. Replaying takes minutes.`)),
      section("What to know before you compare", h("ul", { class: "notes" }, site.notices.filter((notice) => notice.level === "warning").map((notice) => h("li", {}, notice.text)))),
      OF_TASKS ? null : section("Errata", h("p", {}, `${plural(site.errata.length, "slip")} in print are known; each stands on the page of its algorithm or game.`),
        h("details", {}, h("summary", {}, "Of no single score"), errataList(site.errata.filter((slip) => !slip.algorithm && !slip.game)))),
      section("Parts of others", h("p", {}, "d3 and Observable Plot (ISC) and TanStack Table (MIT); versions and licences are in vendor/VENDORED.md.")),
    ]];
  }

  // What a few games would have told

  function predictedPage() {
    const key = site.views[0].name, those = rows.filter((row) => row.predicted.length && row.standings[key]).map((row) => {
      const [guess, low, high] = row.predicted, [truth] = row.standings[key].summaries.hns.median;
      return { row, guess, low, high, truth, off: (100 * (guess - truth)) / truth, held: low <= truth && truth <= high };
    }).filter((one, at, all) => all.findIndex(({ row, truth }) => row.identity === one.row.identity && row.paper === one.row.paper && truth === one.truth) === at)
      .sort((one, other) => other.truth - one.truth);
    if (!those.length) return ["Predicted and true", [h("h1", {}, "Predicted and true"), h("p", {}, "No algorithm here has all 57 games.")]];
    const papers = new Set(those.map((one) => one.row.paper)).size, level = Math.round(100 * site.model.level);
    return ["Predicted and true", [
      h("h1", {}, "Predicted and true"),
      h("p", { class: "lead" }, `The median HNS over 57 games, estimated from the games of ${site.predicted_from} alone (${views.get(site.predicted_from).games.map(nameOf).join(", ")}), for the ${plural(those.length, "algorithm")} (${plural(papers, "paper")}) that have them all, by models fitted without the algorithm's own paper. Estimates are off by ${number(arcademark.mean(those.map((one) => Math.abs(one.off))), 1)} % of the true median on average (median ${number(arcademark.median(those.map((one) => Math.abs(one.off))), 1)} %), and ${level} % intervals cover ${those.filter((one) => one.held).length} of ${those.length} true medians. Expect larger errors for a new algorithm: on 41 held-out algorithms of nine sources the mean error is 23.9 % from these games, 19.7 % from ten and 12.7 % from fourteen, and 90 % intervals cover 37, 38 and 36 of 41.`),
      figure(`Estimate against true median, with its interval; on the line both are equal; in the second colour where the interval misses. Point at a dot. ${footnotes(those.map(({ row }) => row))}`.trim(), (width) => {
        const domain = [Math.min(...those.map((one) => Math.min(one.low, one.truth))), Math.max(...those.map((one) => Math.max(one.high, one.truth)))];
        const scale = { type: "symlog", constant: 20, grid: true, domain, ticks: TICKS.filter((tick) => tick > domain[0] && tick < domain[1]) };
        const points = those.map((one) => ({ name: nameOn(one.row), at: one.truth, value: one.guess, bold: !one.held }));
        return named(width, "Estimates against true medians", {
          height: 420, x: { ...scale, label: "true median HNS (%)" }, y: { ...scale, label: "estimate from few games (%)" },
          marks: [
            Plot.line(those, { x: "truth", y: "truth", stroke: "var(--record)", strokeDasharray: "4 3" }), Plot.ruleX(those, { x: "truth", y1: "low", y2: "high", stroke: "var(--muted)", strokeOpacity: 0.6 }),
            Plot.dot(those, { x: "truth", y: "guess", r: 4, fill: (one) => (one.held ? "var(--series-1)" : "var(--series-2)"), href: (one) => algorithmAt(one.row), title: (one) => `${shown(attributed(one.row))}\nestimate ${percent(one.guess)} %, true ${percent(one.truth)} %`, tip: true }),
          ],
        }, d3.sort(points, (one) => !one.bold), points, []);
      }),
      table([["Algorithm", ""], ["Estimate", "n"], ["True", "n"], ["Error", "n"], [`${level} % interval covers`, "n"], ["Source", ""]], those.map((one) => ({
        cells: [who(one.row), withReach([one.guess, one.low, one.high]), percent(one.truth), `${one.off < 0 ? "−" : "+"}${number(Math.abs(one.off), 1)} %`, one.held ? "yes" : h("strong", {}, "no"), paper(one.row)?.short ?? one.row.source],
      })), { label: "Estimates and true medians" }),
    ]];
  }

  const missing = (kind, name) => ["Not found", [h("h1", {}, "Not found"), h("p", {}, `There is no ${kind} ${name} on these pages. `, link("#/", "All algorithms"))]];

  // Which page

  const PAGES = { "": tablePage, algorithm: algorithmPage, game: gamePage, games: gamesPage, compare: comparePage, plots: plotsPage, predicted: predictedPage, about: aboutPage };

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  /** The page that the address names, and what is asked of it. */
  const route = () => { const [page, ...asked] = location.hash.replace(/^#\/?/, "").split("?"); return [page, asked.join("?")]; };

  /** What is shown, as the end of an address; nothing where it is as at first. */
  function query() {
    const asked = new URLSearchParams(), first = plain();
    for (const key of ["view", "statistic", "search"]) if (state[key] !== first[key]) asked.set(key, state[key]);
    if (measure() !== view().measures[0]) asked.set("metric", state.metric);
    for (const key of ["ranks", "complete", "runnable"]) if (state[key]) asked.set(key, "yes");
    for (const [id, wanted] of Object.entries(state.filters)) if (wanted) asked.set(id, wanted);
    if (state.sorting) asked.set("sort", state.sorting.map(({ id, desc }) => (desc ? "-" : "") + id)[0]);
    if (state.columns) asked.set("columns", state.columns.join(","));
    for (const row of state.chosen) asked.append("with", row.name);
    return String(asked) ? `?${asked}` : "";
  }

  /** Take what is shown from the end of an address; what is not known here is left out. */
  function recall(text) {
    const asked = new URLSearchParams(text), [, down, sort] = /^(-?)(.*)$/.exec(asked.get("sort") ?? "");
    Object.assign(state, plain(), { search: asked.get("search") ?? "", chosen: new Set(asked.getAll("with").map(byName).filter(Boolean)) });
    if (views.has(asked.get("view"))) state.view = asked.get("view");
    state.metric = asked.get("metric") ?? view().measures[0].metric;
    settle();
    if (Object.hasOwn(STATISTICS, asked.get("statistic") ?? "")) state.statistic = asked.get("statistic");
    for (const key of ["ranks", "complete", "runnable"]) state[key] = asked.get(key) === "yes";
    for (const [id, of] of Object.entries(FACETS)) if (rows.some((row) => [of(row)].flat().includes(asked.get(id)))) state.filters[id] = asked.get(id);
    if ([{ id: "name" }, ...COLUMNS].some(({ id }) => id === sort)) state.sorting = [{ id: sort, desc: Boolean(down) }];
    if (asked.has("columns")) state.columns = COLUMNS.map(({ id }) => id).filter((id) => asked.get("columns").split(",").includes(id));
  }

  /** Have the address say what is shown: a link to it shows the same, and going back what was before, unless that is replaced. */
  function remember(apart = true) {
    const address = `#/${route()[0]}${query()}`;
    if (address !== location.hash) history[apart ? "pushState" : "replaceState"](null, "", address);
    navigation();
  }

  /** Mark this page among all; the plots are of what the table shows. */
  function navigation() {
    const [page] = route(), at = page.split("/")[0];
    for (const each of document.querySelectorAll("nav a")) {
      const to = each.getAttribute("href").replace(/^#\/|\?.*$/g, "");
      if (to === "plots" || to === "") each.setAttribute("href", `#/${to}${at === "" || at === "plots" ? query() : ""}`);
      if (to === at) each.setAttribute("aria-current", "page");
      else each.removeAttribute("aria-current");
    }
  }

  let last = null;
  function draw() {
    const [path, asked] = route(), [page, ...rest] = path.split("/");
    recall(asked);
    last = path;
    const make = Object.hasOwn(PAGES, page) ? PAGES[page] : () => missing("page", decoded(page));
    const [title, blocks] = make(...rest.map(decoded));
    document.title = `${shown(title)} · ArcadeMark`;
    const main = document.getElementById("content");
    main.className = page === "" ? "whole" : "";
    main.replaceChildren(...blocks.filter((block) => block !== null && block !== undefined && block !== false));
    navigation();
  }

  window.addEventListener("hashchange", () => {
    if (location.hash === "#content") return;
    const same = route()[0] === last;
    draw();
    if (same) return;
    window.scrollTo(0, 0);
    document.getElementById("content").focus({ preventScroll: true });
  });
  window.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dragged"); });
  window.addEventListener("dragleave", () => document.body.classList.remove("dragged"));
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dragged");
    if (event.dataTransfer.files.length) take(event.dataTransfer.files);
  });
  draw();
})();
