// The median of all games from whichever were played, as arcademark.subset.predict works it out, with the same draws:
// what known scores tell of the others by a normal distribution of their logarithms, moved and given an interval as
// predictions of every paper's algorithms that learnt nothing from it were off. Matrices are arrays of rows.
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

  const near = (one, other, width) => Math.exp(-0.5 * ((one - other) / width) ** 2);
  const deviation = (values, centre = arcademark.mean(values)) => Math.sqrt(arcademark.mean(values.map((value) => (value - centre) ** 2)));

  /** Errors of algorithms whose group was not learnt from, and what follows for others: `calibration.Errors`. */
  function errorsOf(those, model) {
    const typical = deviation(those.map((one) => one.truth)), width = Math.max(model.bandwidth * typical, 1e-9), least = Math.max(model.least_scale * typical, 1e-12);
    const items = those.map(({ estimate, scale, truth, group }) => ({ estimate, truth, group, error: (estimate - truth) / (scale + least), level: (estimate + truth) / 2 }));
    for (const one of items) one.weight = 1 / d3.sum(items, (other) => (other.group === one.group ? near(one.level, other.level, width) : 0));
    const share = new Set(items.map((one) => one.group)).size / Math.max(1, d3.sum(items, (one) => one.weight));
    for (const one of items) one.weight *= share;
    const bounds = new Map();

    /** What an estimate is moved to, as others of its size were off. */
    function value(estimate, without) {
      const others = items.filter((one) => one.group !== without);
      if (!others.length) return estimate;
      const [first, last] = d3.extent(items, (one) => one.estimate), start = first - 3 * width, step = (last - first + 6 * width) / 199;
      let most = -Infinity;
      const moves = Array.from({ length: 200 }, (_, place) => {
        const at = start + place * step;
        let sum = 0, mass = model.shrink;
        for (const one of others) {
          const weight = near(at, one.estimate, width) * one.weight;
          sum += weight * (one.truth - one.estimate);
          mass += weight;
        }
        return (most = Math.max(most, at + sum / mass)) - at;
      });
      const place = Math.min(Math.max((estimate - start) / step, 0), 199), low = Math.min(Math.floor(place), 198);
      return estimate + moves[low] + (place - low) * (moves[low + 1] - moves[low]);
    }

    /** Sums over others near a level: of their errors, of the sizes of these, and of their weights. */
    function around(level, others) {
      let error = 0, size = 0, mass = model.shrink;
      for (const one of others) {
        const weight = near(level, one.level, width) * one.weight;
        error += weight * one.error;
        size += weight * (one.size ?? 0);
        mass += weight;
      }
      return { error, size, mass };
    }

    /** What is usual without a group, and the quantile of what is beyond it. */
    function bound(chance, without) {
      if (bounds.has(without)) return bounds.get(without);
      const kept = items.filter((one) => one.group !== without).map((one) => ({ ...one })), apart = new Map(kept.map((one) => [one, kept.filter((other) => other.group !== one.group)]));
      for (const one of kept) {
        const { error, mass } = around(one.level, apart.get(one));
        one.off = Math.abs(one.error - error / mass);
      }
      for (const one of kept) one.size = one.off;
      const total = d3.sum(kept, (one) => one.weight), usual = Math.max(d3.sum(kept, (one) => one.weight * one.size) / total, 1e-12);
      const beyond = kept.map((one) => {
        const { size, mass } = around(one.level, apart.get(one));
        return { size: (one.size * mass) / (size + model.shrink * usual), weight: one.weight };
      }).sort((one, other) => one.size - other.size);
      const groups = new Set(kept.map((one) => one.group)).size;
      let sum = 0;
      const most = chance > groups / (groups + 1) + 1e-12 ? Infinity : (beyond.find((one) => (sum += one.weight) / total >= chance - 1e-9) ?? beyond.at(-1)).size;
      bounds.set(without, { kept, usual, most });
      return bounds.get(without);
    }

    /** The truths with which an estimate would agree, the lowest and the highest. */
    function interval(estimate, spread, chance, without) {
      const { kept, usual, most } = bound(chance, without), scale = spread + least, tries = model.truths, last = tries.length - 1;
      if (!Number.isFinite(most)) return [-Infinity, Infinity];
      const over = tries.map((away) => {
        const { error, size, mass } = around(estimate + (scale * away) / 2, kept);
        return Math.abs(-away - error / mass) - Math.max((most * (size + model.shrink * usual)) / mass, model.least_reach);
      });
      const bar = Math.max(0, Math.min(...over)), inside = over.map((value_) => value_ <= bar);
      const [low, high] = [[inside.indexOf(true), -1], [inside.lastIndexOf(true), 1]].map(([place, step]) => {
        const here = over[place], there = over[Math.min(Math.max(place + step, 0), last)];
        return estimate + scale * (tries[place] + (here < 0 && there > 0 ? (step * here) / (here - there) : 0) * (tries[1] - tries[0]));
      });
      return [low < Math.min(...items.map((one) => one.truth)) ? 0 : low, high];
    }

    return { value, interval };
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

    /** The middle draw and the scale of its error, as logarithms: `Drawn.estimates`. */
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
        medians[draw] = log(sortedMedian(whole.sort()));
      }
      return { estimate: arcademark.median(medians), scale: deviation(medians) * extrapolation };
    }

    const found = new Map();
    /** Predict every algorithm that has some of the known tasks, and some others, without its group: `calibration.misses`. */
    function errors(known) {
      const key = known.map(Number).join("");
      if (!found.has(key)) {
        kept.clear();
        found.set(key, errorsOf(percents.flatMap((percent, at) => {
          const there = Array.from(percent, Number.isFinite), used = known.map((is, place) => is && there[place]), group = model.groups[at];
          if (!used.some(Boolean) || !there.some((is, place) => is && !known[place])) return [];
          return [{ group, truth: log(arcademark.median(percent.filter(Number.isFinite))), ...drawn(without(group), percent, used, there, model.fewer) }];
        }), model));
      }
      return found.get(key);
    }

    /** The place of the distribution without a group, or of that of all. */
    const without = (group) => 1 + model.distributions.indexOf(group);

    /** Predict the median: its value, null where it is only known to be below the upper end, and its interval's ends, null where there are none; null where nothing is to be predicted. */
    return (name, scores) => {
      const known = model.tasks.map((task) => Object.hasOwn(scores, task));
      if (!known.some(Boolean) || known.every(Boolean)) return null;
      const percent = model.tasks.map((task, at) => (100 * (scores[task] - model.low[at])) / (model.high[at] - model.low[at]));
      const own = name.trim().toLowerCase(), group = Object.hasOwn(model.named, own) ? model.named[own] : null, off = errors(known);
      const { estimate, scale } = drawn(without(group), percent, known, known.map(() => true), 1), value = off.value(estimate, group);
      const [low, high] = off.interval(estimate, scale, level, group), told = Number.isFinite(low) && Number.isFinite(high);
      return { value: told && low <= 0 ? null : back(value), low: told ? back(Math.min(low, value)) : null, high: told ? back(Math.max(high, value)) : null, level };
    };
  }

  Object.assign(arcademark, { predictor });
})();
