// The figures of scores that the browser works out itself: those of arcademark.reports.measures and
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

  /** Mean of what is left when a quarter, rounded down, is taken away at each end. */
  function interquartileMean(values) {
    const sorted = ascending(values), cut = Math.floor(sorted.length / 4);
    return mean(Array.from(sorted.slice(cut, sorted.length - cut)));
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
    return {
      mean: mean(means),
      median: median(means),
      iqm: interquartileMean(single.flat()),
      optimality_gap: mean(single.map((row) => mean(row.map((value) => Math.max(100 - value, 0))))),
    };
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

  Object.assign(arcademark, { mean, median, normalised, known, summaries, improvement, improvementOver, profile });
})();
