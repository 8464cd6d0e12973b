// Lines of a chart that lie on each other: the lower one is drawn wide, so that both are seen.

const NEAR = 2.5; // Pixels apart at most.
const SHARE = 0.9; // Of a line's points.

// Whether a later line hides this one: `x` and `y` give pixels of values.
export function covered(line, lines, x, y) {
  const later = lines.slice(lines.indexOf(line) + 1).filter((other) => other.x && other.y && !other.faint && !other.ghost);
  return later.some((other) => follows(line, other, x, y));
}

function follows(line, other, x, y) {
  let [near, all, k] = [0, 0, 0];
  for (let i = 0; i < line.x.length; i++) {
    while (k < other.x.length - 1 && other.x[k + 1] < line.x[i]) k++;
    const there = between(other, k, line.x[i]);
    if (there === null || !Number.isFinite(line.y[i])) continue;
    all += 1;
    near += Math.abs(y(there) - y(line.y[i])) <= NEAR;
  }
  return all > 1 && near >= SHARE * all && x(line.x[line.x.length - 1]) - x(line.x[0]) > NEAR;
}

// Its height at `at`, between its points `k` and `k + 1`; null beside it.
function between({ x, y }, k, at) {
  const next = Math.min(k + 1, x.length - 1);
  if (at < x[0] || at > x[next]) return null;
  const share = x[next] > x[k] ? (at - x[k]) / (x[next] - x[k]) : 0;
  const there = y[k] + (y[next] - y[k]) * share;
  return Number.isFinite(there) ? there : null;
}

// Lines of which something lies beneath a log axis, drawn at its foot, know their `turn` among those of `turns` there:
// a height of their own would be read as a value. `under` says which of their points lie there, `shared` which of these
// lie upon another line's.
export function grounded(lines) {
  const low = lines.filter(({ y, own }) => own && own.some((value, i) => value < y[i]));
  const at = (line) => Array.from(line.y, (value, i) => line.own[i] < value);
  const places = low.map((line) => new Set(Array.from(line.x).filter((_, i) => line.own[i] < line.y[i])));
  return lines.map((line) => {
    const turn = low.indexOf(line);
    if (turn < 0) return line;
    const shared = Array.from(line.x, (x) => places.some((others, k) => k !== turn && others.has(x)));
    return { ...line, under: at(line), shared, turn, turns: low.length };
  });
}
