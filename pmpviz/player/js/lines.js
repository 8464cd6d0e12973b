// The lines of a trace as they are drawn: up to the pictures on screen, which come a little after the numbers.

const COLUMNS = ["x", "y", "low", "high", "least", "most", "own"];

// `heads.of` is how far the pictures of each lane are, in seconds where `heads.seconds`, else in what numbers them;
// Infinity where none waits. Lines over that end there; curves of runs before have no lane that moves. A line of what
// is measured has its places in `at`, whatever its axis, and ends at what the words on screen speak of; one of `begun`
// counts from a sweep on.
export function shown(trace, heads) {
  if (!heads) return trace.lines || [];
  const over = heads.seconds ? trace.x === "seconds" : counts(trace.x);
  return (trace.lines || []).map((line) => {
    const within = over || line.begun !== undefined;
    const [places, lane] = [line.at || (within && line.x), Number(line.lane)];
    const now = line.ghost ? Infinity : (line.at && heads.measured?.[lane]) ?? heads.of[lane] ?? Infinity;
    const head = now - (line.begun ?? 0);
    return places && places.length && places[places.length - 1] > head ? upTo(line, places, head) : line;
  });
}

// Whether an axis counts what pictures are numbered by.
export function counts(name) {
  return name !== "seconds" && !name.includes("this");
}

// One that is `held` stands at its last value until the next: up to the picture, and not to its last point before it.
function upTo(line, places, head) {
  let end = places.length;
  while (end && places[end - 1] > head) end -= 1;
  const held = line.held && end > 0 && places[end - 1] < head;
  const cut = COLUMNS.filter((name) => line[name]).map((name) => {
    const values = line[name].slice(0, end);
    return [name, held ? [...values, name === "x" ? head : values[end - 1]] : values];
  });
  return { ...line, ...Object.fromEntries(cut) };
}
