// The median of all games from whichever were played, as arcademark.subset.predict works it out, with the same draws:
// what known scores tell of the others by a normal distribution of their logarithms, the interval widened by what
// predictions of every paper's algorithms missed that learnt nothing from it. Matrices are arrays of rows.
"use strict";
(() => {
  const buffer = (text) => Uint8Array.from(atob(text), (mark) => mark.charCodeAt(0)).buffer;
  const rowsOf = (values, width) => Array.from({ length: values.length / width }, (_, at) => values.subarray(at * width, (at + 1) * width));
  const log = (percent) => Math.log10(1 + Math.max(0, percent));
  const sortedMedian = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  const back = (value) => 10 ** Math.max(0, value) - 1;

  /** The lower triangular root of a positive definite matrix. */
  function root(matrix) {
    const lower = matrix.map((row) => new Float64Array(row.length));
    for (let i = 0; i < matrix.length; i++) {
      for (let j = 0; j <= i; j++) {
        let sum = matrix[i][j];
        for (let k = 0; k < j; k++) sum -= lower[i][k] * lower[j][k];
        lower[i][j] = i === j ? Math.sqrt(sum) : sum / lower[j][j];
      }
    }
    return lower;
  }

  function inverse(matrix) {
    const lower = root(matrix), size = matrix.length, turned = lower.map((row) => new Float64Array(row.length));
    for (let j = 0; j < size; j++) {
      for (let i = j; i < size; i++) {
        let sum = i === j ? 1 : 0;
        for (let k = j; k < i; k++) sum -= lower[i][k] * turned[k][j];
        turned[i][j] = sum / lower[i][i];
      }
    }
    return matrix.map((_, i) => Float64Array.from(matrix, (__, j) => {
      let sum = 0;
      for (let k = Math.max(i, j); k < size; k++) sum += turned[k][i] * turned[k][j];
      return sum;
    }));
  }

  function quantile(sorted, share) {
    const at = share * (sorted.length - 1), low = Math.floor(at), high = Math.min(low + 1, sorted.length - 1);
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
  }

  /** Make of a page's model, and a level, what predicts the median, in percent, from a game's scores in points. */
  function predictor(model, level = model.level) {
    const size = model.tasks.length, noise = rowsOf(new Float32Array(buffer(model.noise)), size);
    const means = rowsOf(new Float64Array(buffer(model.means)), size), packed = rowsOf(new Float64Array(buffer(model.precisions)), (size * (size + 1)) / 2);
    const percents = rowsOf(new Float64Array(buffer(model.percent)), size);
    const joints = means.map((mean, at) => ({
      mean, precision: mean.reduce((made, _, i) => [...made, Float64Array.from(mean, (__, j) => packed[at][(Math.max(i, j) * (Math.max(i, j) + 1)) / 2 + Math.min(i, j)])], []),
    }));
    const kept = new Map();

    /** What known tasks say of the others: `Joint.conditional`, and the precision of the known ones alone. */
    function conditional(at, known) {
      const key = `${at} ${known.map(Number).join("")}`;
      if (kept.has(key)) return kept.get(key);
      const { precision } = joints[at], places = known.map((_, place) => place);
      const given = places.filter((place) => known[place]), missing = places.filter((place) => !known[place]);
      const left = inverse(missing.map((i) => Float64Array.from(missing, (j) => precision[i][j])));
      const weights = left.map((row) => given.map((j) => -row.reduce((sum, value, at_) => sum + value * precision[missing[at_]][j], 0)));
      const alone = given.map((i) => given.map((j, column) => precision[i][j] + missing.reduce((sum, m, at_) => sum + precision[i][m] * weights[at_][column], 0)));
      const found = { given, missing, alone, weights: weights.map((row) => row.map((weight) => Math.max(0, weight))), spread: root(left) };
      kept.set(key, found);
      return found;
    }

    /** The ends of what draws give, and its middle between them, as logarithms: `calibration.ends`. */
    function drawn(at, percent, known, among, step) {
      const { given, missing, alone, weights, spread } = conditional(at, known), { mean } = joints[at];
      const away = given.map((place) => log(percent[place]) - mean[place]);
      const distance = away.reduce((sum, value, i) => sum + value * away.reduce((part, other, j) => part + alone[i][j] * other, 0), 0);
      const extrapolation = Math.max(1, Math.sqrt((model.freedom + distance) / (model.freedom + given.length)));
      const middle = missing.map((place, i) => mean[place] + away.reduce((sum, value, j) => sum + weights[i][j] * value, 0));
      const chosen = missing.map((_, i) => i).filter((i) => among[missing[i]]), over = given.filter((place) => among[place]).map((place) => percent[place]);
      const medians = new Float64Array(Math.ceil(noise.length / step)), whole = new Float64Array(over.length + chosen.length);
      for (let draw = 0; draw < medians.length; draw++) {
        const normal = noise[draw * step];
        whole.set(over);
        for (let place = 0; place < chosen.length; place++) {
          const i = chosen[place], row = spread[i];
          let value = middle[i];
          for (let j = 0; j <= i; j++) value += row[j] * normal[j];
          whole[over.length + place] = back(value);
        }
        medians[draw] = sortedMedian(whole.sort());
      }
      medians.sort();
      const [low, centre, high] = [(1 - level) / 2, 0.5, (1 + level) / 2].map((share) => log(quantile(medians, share)));
      return { extrapolation, centre, low: centre + extrapolation * (low - centre), high: centre + extrapolation * (high - centre) };
    }

    const misses = new Map();
    /** How far medians of a group that was left out are outside such ends, smallest first: `calibration.misses`. */
    function missed(known) {
      const key = known.map(Number).join("");
      if (!misses.has(key)) {
        const found = percents.flatMap((percent, at) => {
          const there = Array.from(percent, Number.isFinite), used = known.map((is, place) => is && there[place]);
          if (!used.some(Boolean) || !there.some((is, place) => is && !known[place])) return [];
          const ends = drawn(model.groups[at], percent, used, there, model.fewer), truth = log(arcademark.median(percent.filter(Number.isFinite)));
          return [{ group: model.groups[at], size: Math.max(ends.low - truth, truth - ends.high) / ends.extrapolation }];
        });
        misses.set(key, found.sort((one, other) => one.size - other.size));
      }
      return misses.get(key);
    }

    function widening(known, without) {
      const those = missed(known).filter((miss) => miss.group !== without), counts = d3.rollup(those, (some) => some.length, (miss) => miss.group);
      let sum = 0;
      const enough = those.find((miss) => (sum += 1 / counts.get(miss.group)) >= level * (counts.size + 1) - 1e-9);
      return enough ? Math.max(0, enough.size) : Infinity;
    }

    /** Predict the median: its value, and its interval's ends, null where there are none; null where nothing is to be predicted. */
    return (name, scores) => {
      const known = model.tasks.map((task) => Object.hasOwn(scores, task));
      if (!known.some(Boolean) || known.every(Boolean)) return null;
      const percent = model.tasks.map((task, at) => (100 * (scores[task] - model.low[at])) / (model.high[at] - model.low[at]));
      const at = model.algorithms.indexOf(name), without = at < 0 ? 0 : model.groups[at];
      const { extrapolation, centre, low, high } = drawn(without, percent, known, known.map(() => true), 1);
      const more = extrapolation * widening(known, without), ends = [back(low - more), back(high + more)];
      return { value: back(centre), low: Number.isFinite(more) ? ends[0] : null, high: Number.isFinite(more) ? ends[1] : null, level };
    };
  }

  Object.assign(arcademark, { predictor });
})();
