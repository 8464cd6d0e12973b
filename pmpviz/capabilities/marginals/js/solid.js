// The polytopes of the scene: faces that hide nothing, edges that tell front from back.

import { css, mix } from "../pmpviz.player/theme.js";

// The four faces of a tetrahedron, the farthest first, each as bright as it faces the light; `left` is the corner that a
// face leaves out.
export function facesOf({ camera, data: { marginal }, width, height }) {
  if (!marginal) return [];
  const at = marginal.corners.map((corner) => camera.place(corner));
  const middle = at.reduce((sum, corner) => sum + corner[2], 0) / at.length;
  return [0, 1, 2, 3]
    .map((left) => {
      const [a, b, c] = [0, 1, 2, 3].filter((k) => k !== left).map((k) => at[k]);
      const area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
      const depth = (a[2] + b[2] + c[2]) / 3;
      const slope = Math.abs(area) / (width * height);
      return { at: [a, b, c], left, depth, front: depth > middle, light: Math.min(1, 2.4 * slope + 0.16 * left) };
    })
    .sort((a, b) => a.depth - b.depth);
}

export function fillFace({ context, theme }, { at, front, light }) {
  context.fillStyle = css(mix(theme.soft, theme.accent, 0.25));
  context.globalAlpha = (front ? 0.03 : 0.06) + 0.13 * light;
  context.beginPath();
  at.forEach(([x, y]) => context.lineTo(x, y));
  context.fill();
  context.globalAlpha = 1;
}

// Edges between two faces of the back are dashed; returned is of each corner whether all its edges are.
export function drawEdges(scene, { corners, edges }, faces) {
  const front = new Set(faces.filter((face) => face.front).map((face) => face.left));
  const hidden = (edge) => ![0, 1, 2, 3].some((left) => !edge.includes(left) && front.has(left));
  drawWires(scene, { corners, edges: edges.filter((edge) => !hidden(edge)) }, [], 1.5, 0.8);
  drawWires(scene, { corners, edges: edges.filter(hidden) }, [5, 4], 1, 0.6);
  return [0, 1, 2, 3].map((corner) => edges.filter((edge) => edge.includes(corner)).every(hidden));
}

export function drawWires({ context, theme, camera }, { corners, edges }, dash, width, alpha) {
  const at = corners.map((corner) => camera.place(corner));
  context.strokeStyle = css(theme.text);
  context.globalAlpha = alpha;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  for (const [a, b] of edges) {
    context.moveTo(at[a][0], at[a][1]);
    context.lineTo(at[b][0], at[b][1]);
  }
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}
