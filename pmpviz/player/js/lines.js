// The lines of a trace as they are drawn: up to the pictures on screen, which come a little after the numbers.

const COLUMNS = ["x", "y", "low", "high", "least", "most"];

// `heads.of` is how far the pictures of each lane are, in seconds where `heads.seconds`, else in what numbers them;
// Infinity where none waits. Lines over that end there; curves of runs before have no lane that moves.
export function shown(trace, heads) {
  const lines = trace.lines || [];
  if (!heads || (heads.seconds ? trace.x !== "seconds" : !counts(trace.x))) return lines;
  return lines.map((line) => {
    const head = line.ghost ? Infinity : heads.of[Number(line.lane)] ?? Infinity;
    return line.x && line.x.length && line.x[line.x.length - 1] > head ? upTo(line, head) : line;
  });
}

// Whether an axis counts what pictures are numbered by.
export function counts(name) {
  return name !== "seconds" && !name.includes("this");
}

function upTo(line, head) {
  let end = line.x.length;
  while (end && line.x[end - 1] > head) end -= 1;
  const cut = COLUMNS.filter((name) => line[name]).map((name) => [name, line[name].slice(0, end)]);
  return { ...line, ...Object.fromEntries(cut) };
}
