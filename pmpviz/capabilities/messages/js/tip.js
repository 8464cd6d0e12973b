// Where the words on a part of the graph stand: near it, and over nothing that they speak of.

const OFF = 10; // Pixels from the part, and from the picture's edges.

// What is told of a variable are also its factors, and of a factor its variables: {x, y, r} of each, the part first.
function spokenOf(graph, { variable, factor }) {
  const { variables, factors, record, radius, half } = graph;
  const circle = (k) => ({ x: variables[k][0], y: variables[k][1], r: radius });
  const square = (k) => ({ x: factors[k][0], y: factors[k][1], r: half });
  if (variable < 0) return [square(factor), ...record.factors[factor].scope.map(circle)];
  const beside = record.factors.flatMap(({ scope }, k) => (scope.includes(variable) ? [square(k)] : []));
  return [circle(variable), ...beside];
}

function covers([x, y], [wide, high], spot) {
  return spot.x + spot.r > x && spot.x - spot.r < x + wide && spot.y + spot.r > y && spot.y - spot.r < y + high;
}

// Left and top of a box of this size in the picture: of the places beside the part and in the corners the one that
// covers least of what is spoken of, then least of the rest, then the nearest.
export function beside(graph, found, [wide, high]) {
  const spoken = spokenOf(graph, found);
  const [{ x, y, r }] = spoken;
  const all = [...graph.variables.map(([x, y]) => ({ x, y, r: graph.radius })), ...graph.factors.map(([x, y]) => ({ x, y, r: graph.half }))];
  const [right, bottom] = [graph.width - wide - OFF, graph.height - high - OFF];
  const within = ([left, top]) => [Math.max(OFF, Math.min(right, left)), Math.max(OFF, Math.min(bottom, top))];
  const around = [
    [x + r + OFF, y - high / 2],
    [x - r - OFF - wide, y - high / 2],
    [x - wide / 2, y + r + OFF],
    [x - wide / 2, y - r - OFF - high],
  ];
  const corners = [OFF, right].flatMap((left) => [OFF, bottom].map((top) => [left, top]));
  const far = ([left, top]) => Math.hypot(left + wide / 2 - x, top + high / 2 - y);
  const count = (at, spots) => spots.filter((spot) => covers(at, [wide, high], spot)).length;
  const cost = (at) => [count(at, spoken.slice(0, 1)), count(at, spoken), count(at, all), far(at)];
  const less = (a, b) => a.map((each, k) => each - b[k]).find((gap) => gap) < 0;
  return [...around, ...corners].map(within).reduce((best, at) => (less(cost(at), cost(best)) ? at : best));
}
