// What the words of the page mean to who sees them for the first time.

export const SHARE = "How much of each edge's dependence the objective counts: how often the edge is in a random spanning tree.";
// What the picture's and the sentences' words mean: told at the ? beside each; all of them stand in a fold of the page.
export const MEANINGS = [
  ["corners", "Configurations, a digit a spin. Two at one corner, as 011 · 100, are each other's opposites: in both the same spins agree."],
  ["axes", "What each counts is written beside it. Correlation s₁, s₂: how far spins 1 and 2 agree, from −1, never, to 1, always. Score: how much the model favours μ. Principal directions: in which good configurations differ most."],
  ["centre u₀", "All configurations alike: the walk begins there. A share of it stays in the average: it keeps μ off the faces, where a probability may be 0 and the slope of the entropy infinite."],
  ["barrier", "A contraction δ: each corner is drawn towards u₀ by so much of the way, and μ stays off the faces. Fixed, δ stays as it is; adaptive, it shrinks as the gap does."],
  ["correction", "The corners that were found so far are weighed anew, to their best average: it costs no MAP call."],
  ["MAP call", "MAP: maximum a posteriori, the one best configuration: of weights that say, from μ, how much each would raise the objective (its gradient there). That is the corner farthest uphill. As μ moves the gradient turns, and another corner is best."],
  ["objective", "What the walk climbs: the mean score of μ plus its entropy. Without loops its maximum is log Z, at the exact marginals. With loops the entropy is only bounded: the maximum lies above log Z, and near the exact marginals, not at them."],
  ["log Z", "The logarithm of Z, the sum of all configurations' weights, in nats: one nat is a factor of e in Z. It is at least the logarithm of the summed weights of the configurations found so far, on a tree also the objective. It is at most the objective plus the gap."],
  ["ρ", SHARE],
];
export const HELP = {
  error: "The mean over all variables of |p(xᵢ = 1) − its exact value|, after each step. The walk itself does not know it: it needs the exact answer.",
  gap: "How far the objective can rise, at most, in nats as log Z, from where each MAP call was made, before its step: with the objective there it bounds log Z. The line is the gap of each call, which need not fall with every one.",
  log_z: "The band, drawn for up to two lanes, is what is known: log Z lies within it. Its ends are the best bounds so far: above, the least sum of gap and objective at a MAP call; below, the summed weights of what was found, on a tree the objective. The line is the objective where each step led; it may cross log Z where there are loops.",
};
