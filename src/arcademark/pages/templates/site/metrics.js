// The figures of scores that the browser works out itself: those of arcademark.analysis.measures and
// arcademark.metrics, in percent. A task's runs are an array of scores; tasks without any are left out before.
"use strict";
window.arcademark = {};
(() => {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

  const ascending = (values) => Float64Array.from(values).sort();

  function median(values) {
    const sorted = ascending(values), middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** The statistics of `metrics.aggregate.AGGREGATES`, from the page's data. */
  const AGGREGATES = window.ARCADEMARK?.aggregates ?? [], STATISTICS = AGGREGATES.map(({ name }) => name);
  const aggregate = (key) => AGGREGATES.find(({ name }) => name === key);

  /** How many of so many scores are left out at each end: `Aggregate.cut`. */
  const cutOf = ({ trim }, number) => Math.min(Math.floor(trim * number), Math.floor((number - 1) / 2));

  /** Mean of what is left without those at each end: `Aggregate.trimmed_mean`. */
  function trimmedMean(one, values) {
    const sorted = one.trim ? ascending(values) : values, cut = cutOf(one, sorted.length);
    return mean(Array.from(sorted.slice(cut, sorted.length - cut)));
  }

  /** Sum up tasks' means over runs and their runs: `Aggregate`. */
  function summedUp(one, means, single) {
    const short = (value) => one.target - Math.min(value, one.target), runs = one.target === null ? single : single.map((row) => row.map(short));
    if (one.over === "runs") return trimmedMean(one, runs.flat());
    return trimmedMean(one, one.target === null ? means : runs.map(mean));
  }

  function normalised(measure, task, score) {
    const low = measure.low[task], percent = 100 * ((score - low) / (measure.high[task] - low));
    return measure.bounds.length ? Math.min(Math.max(percent, measure.bounds[0]), measure.bounds[1]) : percent;
  }

  const known = (measure, task) => Object.hasOwn(measure.low, task);

  /** Place each task's runs, or their mean where the measure places no single runs. */
  const placed = (measure, tasks, runs) =>
    tasks.map((task) => (measure.of_means ? [mean(runs[task])] : runs[task]).map((score) => normalised(measure, task, score)));

  /** Sum up runs by task as `Measure.aggregates` does; null where the measure knows none of the tasks. */
  function summaries(measure, runs) {
    const tasks = Object.keys(runs).filter((task) => known(measure, task) && runs[task].length);
    if (!tasks.length) return null;
    const means = tasks.map((task) => normalised(measure, task, mean(runs[task])));
    const single = placed(measure, tasks, runs);
    return Object.fromEntries(AGGREGATES.map((one) => [one.name, summedUp(one, means, single)]));
  }

  /** How probable it is that a run of the first beats one of the second on a task; a tie is half a win. */
  function improvement(first, second) {
    let won = 0;
    for (const one of first) for (const other of second) won += one > other ? 1 : one === other ? 0.5 : 0;
    return won / (first.length * second.length);
  }

  const improvementOver = (first, second) =>
    mean(Object.keys(first).filter((task) => task in second).map((task) => improvement(first[task], second[task])));

  /** The share of runs above each threshold, each task weighing the same. */
  function profile(measure, runs, thresholds) {
    const tasks = Object.keys(runs).filter((task) => known(measure, task) && runs[task].length);
    return thresholds.map((bar) => mean(placed(measure, tasks, runs).map((row) => row.filter((value) => value > bar).length / row.length)));
  }

  // Intervals of what runs sum up to, as arcademark.metrics.uncertainty finds them but from draws of its own: their
  // ends differ by what 2,000 draws leave to chance, some 3 % of an interval's width, and are the same each time.

  const LEVEL = 0.95, NORMAL = 1.959963984540054, DRAWS = 2000, MAX_DRAWN = 3e6;
  const clipped = (value, low, high) => Math.min(Math.max(value, low), high);
  const drawsOf = (sizes) => Math.round(clipped(MAX_DRAWN / d3.sum(sizes), 200, DRAWS));

  function variance(values) {
    const centre = mean(values);
    return values.length > 1 ? d3.sum(values, (value) => (value - centre) ** 2) / (values.length - 1) : 0;
  }

  /** Mulberry32: numbers from 0 to 1. */
  function generator(state) {
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  }

  /** Student's quantile over the normal one: of t = tan(a) √v, a has a density like cos(a)^(v − 1). */
  function studentRatio(degrees) {
    if (!Number.isFinite(degrees)) return 1;
    const step = Math.PI / 2 / 20000, density = Float64Array.from({ length: 20000 }, (_, at) => Math.cos((at + 0.5) * step) ** (degrees - 1));
    let left = LEVEL * d3.sum(density), at = 0;
    while (left > density[at]) left -= density[at++];
    return (Math.sqrt(degrees) * Math.tan((at + left / density[at]) * step)) / NORMAL;
  }

  /** How much a statistic over tasks follows each task's mean: `samples.task_shares`. */
  function taskShares(one, means, variances) {
    if (one.trim < 0.5) {
      const cut = cutOf(one, means.length), left = new Set(d3.sort(means.keys(), (at) => means[at]).slice(cut, means.length - cut));
      return means.map((_, at) => (left.has(at) ? 1 / left.size : 0));
    }
    const middle = median(means), logs = means.map((value, at) => (variances[at] > 0 ? -0.5 * ((value - middle) ** 2 / variances[at] + Math.log(variances[at])) : -Infinity));
    const most = Math.max(...logs), density = logs.map((value) => (most > -Infinity ? Math.exp(value - most) : 0)), total = d3.sum(density);
    return density.map((value) => (total ? value / total : 0));
  }

  /** What each task's runs add to the variance of each summary: `uncertainty.sum_up`. */
  function parts(measure, tasks, runs) {
    const errors = tasks.map((task) => Math.sqrt(variance(runs[task]) / runs[task].length)), total = d3.sum(tasks, (task) => runs[task].length);
    const means = tasks.map((task) => mean(runs[task])), moved = (of) => tasks.map((_, at) => ((of(at, means[at] + errors[at]) - of(at, means[at] - errors[at])) / 2) ** 2);
    if (measure.of_means) {
      const around = (key) => moved((place, score) => summaries(measure, Object.fromEntries(tasks.map((task, at) => [task, [at === place ? score : means[at]]])))[key]);
      return Object.fromEntries(STATISTICS.map((key) => [key, around(key)]));
    }
    const free = { ...measure, bounds: [] }, line = moved((at, score) => normalised(free, tasks[at], score));
    const held = placed(measure, tasks, runs), placedMeans = tasks.map((task, at) => normalised(free, task, means[at]));
    const ofMeans = moved((at, score) => normalised(measure, tasks[at], score));
    const added = (one) => {
      const scores = one.target === null ? held : held.map((row) => row.map((value) => Math.min(value, one.target)));
      if (one.over === "runs") {
        const ordered = ascending(scores.flat()), cut = cutOf(one, total), [low, high] = [ordered[cut], ordered[total - 1 - cut]];
        return scores.map((row) => (variance(row.map((value) => clipped(value, low, high))) * row.length) / (total - 2 * cut) ** 2);
      }
      if (one.target !== null) {
        const shares = taskShares(one, scores.map(mean), line);
        return scores.map((row, at) => (shares[at] ** 2 * variance(row)) / row.length);
      }
      const spread = one.trim === 0.5 ? line : ofMeans;
      return taskShares(one, placedMeans, line).map((share, at) => share ** 2 * spread[at]);
    };
    return Object.fromEntries(AGGREGATES.map((one) => [one.name, added(one)]));
  }

  /** Resample each task's runs: by statistic its value, what else it might have been, and what makes up its variance; null of single runs. */
  function drawn(measure, runs, seed) {
    const mine = kept.get(runs) ?? kept.set(runs, new Map()).get(runs), key = `${measure.metric} ${seed}`;
    return mine.get(key) ?? mine.set(key, resampled(measure, runs, seed)).get(key);
  }

  const kept = new WeakMap();

  function resampled(measure, runs, seed) {
    const tasks = Object.keys(runs).filter((task) => known(measure, task) && runs[task].length), sizes = tasks.map((task) => runs[task].length);
    if (sizes.every((size) => size === 1)) return null;
    const free = { ...measure, bounds: [] }, rows = tasks.map((task) => runs[task].map((score) => normalised(free, task, score))), count = drawsOf(sizes);
    const [low, high] = measure.bounds.length ? measure.bounds : [-Infinity, Infinity], random = generator(seed), draws = STATISTICS.map(() => new Float64Array(count));
    for (let draw = 0; draw < count; draw++) {
      const held = [], means = rows.map((row, at) => {
        const again = row.map(() => row[Math.floor(random() * row.length)]), middle = clipped(mean(again), low, high);
        held[at] = measure.of_means ? [middle] : again.map((value) => clipped(value, low, high));
        return middle;
      });
      AGGREGATES.forEach((one, at) => (draws[at][draw] = summedUp(one, means, held)));
    }
    const values = summaries(measure, runs), variances = parts(measure, tasks, runs);
    return Object.fromEntries(STATISTICS.map((key, at) => [key, { value: values[key], draws: draws[at], parts: variances[key].map((part, place) => [part, sizes[place]]) }]));
  }

  /** A value with its interval's ends, none where nothing varies: `intervals.limits`, "symmetric", within bounds. */
  function reach({ value, draws, parts: those }, [least, most]) {
    const total = d3.sum(those, ([part]) => part), squares = d3.sum(those, ([part, size]) => part ** 2 / Math.max(size - 1, 1)), shrunk = d3.sum(those, ([part, size]) => (part * (size - 1)) / size);
    const half = d3.quantile(draws, LEVEL, (draw) => Math.abs(draw - value)) * Math.sqrt(shrunk ? total / shrunk : 1) * studentRatio(squares ? total ** 2 / squares : Infinity);
    return half > 0 ? [value, Math.max(Math.min(least, value), value - half), Math.min(Math.max(most, value), value + half)] : [value];
  }

  /** The bounds that a summary cannot leave: `Measure.within`. */
  function within(measure, key) {
    const [low, high] = measure.bounds.length ? measure.bounds : measure.of_means ? [0, 100] : [-Infinity, Infinity];
    const { target } = aggregate(key);
    return target === null ? [low, high] : [Math.max(0, target - high), target - low];
  }

  /** Summaries with their intervals, where there are several runs; null where the measure knows none of the tasks. */
  function reaches(measure, runs, seed = 1) {
    const values = summaries(measure, runs), might = values && drawn(measure, runs, seed);
    return values && Object.fromEntries(STATISTICS.map((key) => [key, might ? reach(might[key], within(measure, key)) : [values[key]]]));
  }

  /** By how much the first's summaries are higher, over the tasks that both have, with intervals where both have several runs. */
  function differences(measure, first, second) {
    const [one, other] = [drawn(measure, first, 1), drawn(measure, second, 2)], [mine, theirs] = [summaries(measure, first), summaries(measure, second)];
    return Object.fromEntries(STATISTICS.map((key) => {
      const value = mine[key] - theirs[key], [low, high] = within(measure, key);
      if (!one || !other) return [key, [value]];
      const draws = one[key].draws.map((draw, at) => draw - other[key].draws[at % other[key].draws.length]);
      return [key, reach({ value, draws, parts: [...one[key].parts, ...other[key].parts] }, [low - high, high - low])];
    }));
  }

  /** How probable it is that a run of the first beats one of the second, with its interval where both have several runs. */
  function improvementReach(first, second) {
    const tasks = Object.keys(first).filter((task) => task in second), value = improvementOver(first, second), sides = [first, second];
    if (sides.some((runs) => tasks.every((task) => runs[task].length === 1))) return [value];
    const won = sides.map((runs, side) => tasks.map((task) => runs[task].map((run) => improvement([run], sides[1 - side][task]))));
    const those = won.flatMap((rows) => rows.map((row) => [variance(row) / row.length / tasks.length ** 2, row.length]));
    const random = generator(1), again = (runs) => runs.map(() => runs[Math.floor(random() * runs.length)]);
    const draws = Float64Array.from({ length: drawsOf(tasks.map((task) => first[task].length * second[task].length)) }, () => mean(tasks.map((task) => improvement(again(first[task]), again(second[task])))));
    return reach({ value, draws, parts: those }, [0, 1]);
  }

  Object.assign(arcademark, { mean, median, normalised, known, summaries, reaches, differences, improvement, improvementOver, improvementReach, profile });
})();
