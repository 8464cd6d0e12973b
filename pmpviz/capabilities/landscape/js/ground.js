// The landscape itself: means and law of the Gaussians, their mixture's density, and where all that is on the screen.

const CELLS = 112; // Of the grid that the density is evaluated on, a side.
const REACH = 2.8; // Standard deviations of the outermost Gaussians that are seen.
const RIPPLE = 1e-4; // Hills that are lower, in log p, are rounding.

export class Ground {
  // `scene` as the server describes it, with what a hand has changed of it since; `turn` is 0 in whitened coordinates,
  // 1 in those of A = I, and between them on the way.
  constructor(scene, turn) {
    this.colours = scene.colours; // Of the states.
    this.take(scene, turn);
    this.inverse = inverted(this.map);
  }

  // The shift is its least plus `extra`. The square that is seen has room for the largest one: it stays as it is while
  // the shift is dragged, so that the dots are seen to part.
  take(scene, turn) {
    this.largest = scene.values[0] + scene.extra;
    this.law = scene.law;
    const widest = placed(scene, scene.high, turn);
    this.frame(widest.means, widest.map);
    Object.assign(this, placed(scene, scene.extra, turn));
  }

  // The middle of the Gaussian of the state that was drawn.
  stateOf(roll) {
    return this.means[roll.after];
  }

  // The square that is seen, in the coordinates of the picture: all Gaussians with these means.
  frame(means, map) {
    const places = means.map((mean) => mapped(map, mean));
    const [low, high] = [[], []];
    for (const axis of [0, 1]) {
      const spread = REACH * Math.hypot(...map[axis]);
      low[axis] = Math.min(...places.map((place) => place[axis])) - spread;
      high[axis] = Math.max(...places.map((place) => place[axis])) + spread;
    }
    this.half = Math.max(high[0] - low[0], high[1] - low[1]) / 2;
    this.middle = [0, 1].map((axis) => (low[axis] + high[axis]) / 2);
  }

  // From z to the coordinates of the picture.
  place(z) {
    return mapped(this.map, z);
  }

  // From z to pixels of a square picture.
  pixel(z, side) {
    const [x, y] = this.place(z);
    return [this.across(x, 0, side), side - this.across(y, 1, side)];
  }

  // A direction, without a place.
  direction(p, side) {
    const [x, y] = this.place(p);
    return [(x * side) / (2 * this.half), (-y * side) / (2 * this.half)];
  }

  across(value, axis, side) {
    return ((value - this.middle[axis] + this.half) / (2 * this.half)) * side;
  }

  // log p(z) up to what is the same everywhere, and each state's share p(s | z) of it.
  density(z, shares) {
    let most = -Infinity;
    this.means.forEach((mean, s) => {
      shares[s] = Math.log(this.law[s]) - 0.5 * ((z[0] - mean[0]) ** 2 + (z[1] - mean[1]) ** 2);
      most = Math.max(most, shares[s]);
    });
    let total = 0;
    for (let s = 0; s < shares.length; s++) total += shares[s] = Math.exp(shares[s] - most);
    for (let s = 0; s < shares.length; s++) shares[s] /= total;
    return most + Math.log(total);
  }

  // log p on the grid, rows from above, and every state's share at each of its points.
  survey() {
    const count = CELLS * CELLS;
    const [heights, shares] = [new Float64Array(count), new Float32Array(count * this.law.length)];
    const own = new Float64Array(this.law.length);
    const [[a, b], [c, d]] = this.inverse;
    for (let k = 0; k < count; k++) {
      const x = this.middle[0] + this.half * ((2 * ((k % CELLS) + 0.5)) / CELLS - 1);
      const y = this.middle[1] - this.half * ((2 * (Math.floor(k / CELLS) + 0.5)) / CELLS - 1);
      heights[k] = this.density([a * x + b * y, c * x + d * y], own);
      shares.set(own, k * own.length);
    }
    const place = (at, axis) => centre(at, CELLS, axis) + summit(heights, at, axis ? CELLS : 1) / CELLS;
    const tops = topsOf(heights).map((at) => [0, 1].map((axis) => place(at, axis)));
    const dips = topsOf(heights.map((height) => -height)).map((at) => [0, 1].map((axis) => centre(at, CELLS, axis)));
    return { heights, shares, cells: CELLS, tops, dips, hills: tops.length };
  }
}

// Where one who goes up from a place by the steepest way ends; places are shares of the picture's side.
export function summitFrom(heights, cells, [x, y]) {
  const inside = (share) => Math.max(1, Math.min(cells - 2, Math.floor(share * cells)));
  const around = neighbours(cells);
  let at = inside(y) * cells + inside(x);
  for (let step = 0; step < 2 * cells; step++) {
    const up = around.map((way) => at + way).reduce((best, next) => (heights[next] > heights[best] ? next : best), at);
    if (up === at) break;
    at = up;
  }
  return [centre(at, cells, 0), centre(at, cells, 1)];
}

function neighbours(cells) {
  return [-cells - 1, -cells, -cells + 1, -1, 1, cells - 1, cells, cells + 1];
}

// Lines of equal height, as [x1, y1, x2, y2] in shares of the picture's side.
export function contours({ heights, cells }, level) {
  const found = [];
  for (let row = 0; row + 1 < cells; row++) {
    for (let column = 0; column + 1 < cells; column++) {
      const at = row * cells + column;
      const ring = [at, at + 1, at + cells + 1, at + cells];
      const ends = [];
      for (let e = 0; e < 4; e++) {
        const [i, j] = [ring[e], ring[(e + 1) % 4]];
        if (heights[i] < level === heights[j] < level) continue;
        const share = (level - heights[i]) / (heights[j] - heights[i]);
        ends.push(centre(i, cells, 0) + share * (centre(j, cells, 0) - centre(i, cells, 0)));
        ends.push(centre(i, cells, 1) + share * (centre(j, cells, 1) - centre(i, cells, 1)));
      }
      for (let e = 0; e + 3 < ends.length; e += 4) found.push(ends.slice(e, e + 4));
    }
  }
  return found;
}

function centre(index, cells, axis) {
  return ((axis ? Math.floor(index / cells) : index % cells) + 0.5) / cells;
}

function dot(state, vectors, k) {
  return state.reduce((sum, v, i) => sum + v * vectors[i][k], 0);
}

// The Gaussians' means under a shift beyond the least, and the way from z to the coordinates of the picture.
function placed({ values, vectors, states }, extra, turn) {
  const roots = [0, 1].map((k) => Math.sqrt(Math.max(values[k] + extra, 1e-6)));
  const means = states.map((state) => [0, 1].map((k) => roots[k] * dot(state, vectors, k)));
  return { means, map: mapOf(vectors, roots, turn) };
}

function mapped([[a, b], [c, d]], [x, y]) {
  return [a * x + b * y, c * x + d * y];
}

// Of two spins B z is a stretch and a turn; of three the principal axes are only stretched.
function mapOf(vectors, roots, turn) {
  const angle = vectors.length === 2 ? turn * Math.atan2(vectors[1][0], vectors[0][0]) : 0;
  const [x, y] = roots.map((root) => root ** turn);
  return [
    [Math.cos(angle) * x, -Math.sin(angle) * y],
    [Math.sin(angle) * x, Math.cos(angle) * y],
  ];
}

function inverted([[a, b], [c, d]]) {
  const area = a * d - b * c;
  return [
    [d / area, -b / area],
    [-c / area, a / area],
  ];
}

// The points of the grid that are higher than all around them, one of each hill.
function topsOf(heights) {
  const around = neighbours(CELLS);
  const tops = [];
  for (let row = 2; row < CELLS - 2; row++) {
    for (let column = 2; column < CELLS - 2; column++) {
      const at = row * CELLS + column;
      // Of two equal neighbours the first counts.
      if (around.every((step) => (step < 0 ? heights[at] > heights[at + step] : heights[at] >= heights[at + step]))) tops.push(at);
    }
  }
  return tops.filter((at, k) => tops.every((other, j) => j >= k || !same(heights, at, other)));
}

// How far from a top's point the parabola through it and its two neighbours is highest, in points.
function summit(heights, at, step) {
  const [before, here, after] = [heights[at - step], heights[at], heights[at + step]];
  const bend = before - 2 * here + after;
  return bend < 0 ? Math.max(-0.5, Math.min(0.5, (before - after) / (2 * bend))) : 0;
}

// Whether two tops are one: nothing between them lies lower than the rounding of the grid.
function same(heights, one, two) {
  const low = Math.min(heights[one], heights[two]);
  const steps = CELLS;
  for (let k = 0; k <= steps; k++) {
    const row = Math.round(Math.floor(one / CELLS) + (k / steps) * (Math.floor(two / CELLS) - Math.floor(one / CELLS)));
    const column = Math.round((one % CELLS) + (k / steps) * ((two % CELLS) - (one % CELLS)));
    if (heights[row * CELLS + column] < low - RIPPLE) return false;
  }
  return true;
}
