"""What a recorded run of message passing has come to, in sentences: oscillation, convergence, exactness."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from pmpviz.capabilities.messages.recording import MAX_SWEEPS
from pmpviz.metrics.oscillation import CONFIRM
from pmpviz.player.numbers import integer, significant

EXACT = 1e-5
REPEAT = 1e-6
ROUNDING = 1e-12
MOST_TURNS = 6  # Answers of a cycle that are all told.
MUCH = 0.5  # Damping from which on it slows down what settles.
# What a table of two spins says for their being alike, and against it.
SIGNS = np.array([[1, -1], [-1, 1]])
# Of the symmetric fixed point on four joined spins: three neighbours each, of which two pass news on.
STABLE_CORRELATION, STABLE_THETA = 0.5, math.atanh(0.5)


@dataclass(frozen=True)
class Milestone:
    """From the end of `sweep` on the run is `running`, `converged`, `oscillating` or `exact`, and `words` says so.

    `{residual}` in the words stands for the largest change of the last sweep, `{sent}` for the messages that were sent
    in this sweep, `{right}` for the beliefs that are exact now.
    """

    sweep: int
    status: str
    words: str


def messages_by_sweep(record) -> Float[np.ndarray, "sweeps_1 e k"]:
    """Messages to variables after each sweep, row 0 before the first: flat."""
    edges, states = len(record.edge_factor), record.after.shape[1]
    rows = np.zeros((len(record.residual) + 1, edges, states))
    for sweep, stop in enumerate(ends(record), 1):
        rows[sweep] = rows[sweep - 1]
        start = 0 if sweep == 1 else ends(record)[sweep - 2]
        down = np.flatnonzero(record.to_variable[start:stop]) + start
        rows[sweep, record.edge[down]] = record.after[down]
    return rows


def ends(record) -> np.ndarray:
    """Number of events up to the end of each sweep."""
    numbers = np.asarray(record.sweep)
    first = int(numbers[0]) if len(numbers) else 0
    return np.searchsorted(numbers, np.arange(first, first + len(record.residual)), side="right")


def repeats_from(record) -> int | None:
    """The first sweep whose messages, and those of the eight or more before it, are those a period before; or None."""
    if record.period is None:
        return None
    period, rows = record.period, messages_by_sweep(record)
    rows = np.where(np.isfinite(rows), rows, 0.0).reshape(len(rows), -1)
    agree = (np.abs(rows[period:] - rows[:-period]) <= REPEAT * (1 + np.abs(rows[period:]))).all(1)
    needed = max(period, CONFIRM)
    for stop in range(needed, len(agree) + 1):
        if agree[stop - needed : stop].all():
            return stop - 1 + period
    return len(rows) - 1


def milestones(record, errors: Float[np.ndarray, " sweeps_1"] | None) -> list[Milestone]:
    """What can be said from which sweep on, in order; the first is from sweep 0 on."""
    known = record.is_tree and errors is not None
    right = f"{{right}} of {integer(record.target.n)} beliefs are exact" if known else ""
    found = [Milestone(0, "running", _starting(record, right, errors))]
    exact_at = exact_from(record, errors)
    if len(record.residual) and exact_at != 1:
        words = f"Not settled yet: {right}{', ' if right else ''}the largest change in this sweep is {{residual}}."
        found.append(Milestone(1, "running", words))
    if exact_at is not None:
        found.append(Milestone(exact_at, "exact", _exactness(record, exact_at)))
        return found
    repeat = repeats_from(record)
    if repeat is not None:
        found.append(Milestone(repeat, "oscillating", _oscillation(record, repeat)))
    elif record.converged is not None:
        # The first sweep that asks for no change: one more than those before it.
        found.append(Milestone(record.converged + 1, "converged", _convergence(record, errors)))
    elif len(record.residual):
        found.append(Milestone(len(record.residual), "running", _over(record)))
    return found


def _over(record) -> str:
    """Of a run that ends before it has settled or is seen to repeat: how to go on."""
    sweeps = len(record.residual)
    words = f"Not settled after {integer(sweeps)} sweep{'s' if sweeps > 1 else ''}: the last change is {{residual}}"
    if not settling(record) and not record.is_tree:
        return f"{words}, and changes do not fall. More damping may help."
    quicker = "; less damping may be quicker" if record.settings.damping > MUCH else ""
    more = "give more sweeps in the side bar" if sweeps < MAX_SWEEPS else f"no more sweeps are recorded{quicker}"
    return f"{words}, and falls: {more}."


def settling(record) -> bool:
    """Whether changes have fallen in the second half of a run."""
    return bool(record.residual[-1] < record.residual[len(record.residual) // 2] / 2)


def exact_from(record, errors: Float[np.ndarray, " sweeps_1"] | None) -> int | None:
    """On a tree, the first sweep from which on beliefs are exact to 1e-5 and messages at rest; else None."""
    if not record.is_tree or errors is None:
        return None
    wrong = np.flatnonzero(~(np.asarray(errors) < EXACT))
    first = int(wrong[-1]) + 1 if len(wrong) else 0
    return max(first, 1) if first < len(errors) else None


def _oscillation(record, repeat: int) -> str:
    """Why the messages never come to rest, where that is known; else which of them return."""
    kind = f"Oscillates with period {record.period}"
    if _cause(record):
        return f"{kind}: round this loop messages come back reversed."
    return f"{kind}: the messages of sweep {repeat} are again those of sweep {repeat - record.period}."


def _starting(record, right: str, errors: Float[np.ndarray, " sweeps_1"] | None) -> str:
    if record.settings.schedule == "two_pass" and len(record.residual):
        sent = f"{{sent}} of {integer(int(ends(record)[0]))} messages to the root and back"
        return f"After {sent}, {right}." if right else f"Sent: {sent}."
    # Or a class would learn that messages make beliefs worse.
    if not record.is_tree and errors is not None and errors[0] < EXACT <= max(errors):
        return "Beliefs are right before any message here: the loop can only spoil them."
    return "Messages begin flat: they prefer no state."


def _exactness(record, sweep: int) -> str:
    if record.settings.schedule == "two_pass":
        return f"Exact {_passed(record)}: two passes."
    kind = f"Exact after {integer(sweep)} sweep{'s' if sweep > 1 else ''}"
    if record.settings.damping > 0:
        return f"{kind}, to five decimals: damped messages reach the exact ones only in the limit."
    if record.settings.schedule == "parallel":
        return f"{kind}: news crosses one factor a sweep, and the graph's diameter is {integer(record.diameter)}."
    return f"{kind}, one factor after the other; leaf to root and back would need two passes."


def _passed(record) -> str:
    """How many messages a sweep of both passes has: over every edge one each way, but for variables that are held."""
    count, edges = int(ends(record)[0]), len(record.edge_factor)
    each = f", one each way over each of the {integer(edges)} edges, circle to square" if count == 2 * edges else ""
    return f"after {integer(count)} messages{each}"


def _convergence(record, errors: Float[np.ndarray, " sweeps_1"] | None) -> str:
    """That messages have come to rest, which says nothing of the beliefs: how far these are off where that is known."""
    change = significant(float(record.residual[record.converged]))
    off = 0.0 if errors is None else float(errors[record.converged + 1])
    wrong = f"; beliefs are off by up to {significant(off, 2)}" if off >= EXACT else ""
    return f"Messages converged at sweep {integer(record.converged + 1)} (largest change {change}){wrong}."


def verdict(record, errors: Float[np.ndarray, " sweeps_1"] | None, steps: list[Milestone]) -> str:
    """One sentence on how the recorded run ends, whatever the play head shows."""
    sweeps, last = len(record.residual), steps[-1]
    if not len(record.edge_factor) or not sweeps:
        return "No factor joins two variables here: nothing is sent."
    of = f"At its end, after {integer(sweeps)} sweep{'s' if sweeps > 1 else ''}, the run"
    if last.status == "exact":
        since = f"; it has been since the end of sweep {integer(last.sweep)}" if last.sweep < sweeps else ""
        if record.settings.schedule == "two_pass" and not record.settings.damping:
            return f"At its end the run is exact{_off(errors, 1, ', largest error {}')}: nothing changes any more."
        return f"{of} is exact{_off(errors, 1, ', largest error {}')}{since}."
    if last.status == "oscillating":
        off = _off(errors, record.period, ", beliefs off by up to {}")
        seen = _cause(record) or f", seen by sweep {integer(last.sweep)}"
        return f"{of} oscillates with period {record.period}{off}{seen}."
    off = _off(errors, 1, ", beliefs off by up to {}")
    if last.status == "converged":
        kind = "a tree" if record.is_tree else "on loops the same evidence counts again: approximate"
        return f"{of} has converged, at sweep {integer(last.sweep)}; {kind}{off}."
    change = float(record.residual[-1])
    if settling(record):
        return f"{of} is still settling, the last change being {significant(change)}{off}."
    return f"{of} neither settles nor repeats, the last change being {significant(change)}{off}."


def explaining_away(held: dict[int, int], before: np.ndarray, seen: np.ndarray, now: np.ndarray) -> str:
    """What an effect that is seen says of its causes, and a cause that is known besides of another.

    `before`, `seen` and `now` are the causes' exact probabilities without evidence, with the effect alone, and with the
    causes that are `held`, too.
    """
    other = next((cause for cause in range(len(now)) if cause not in held), None)
    if other is None:
        return ""
    first, then, last = (f"{each[other]:.2f}" for each in (before, seen, now))
    if not held:
        return f"The effect makes causes likelier, x{other + 1} {first} → {then}. Hold x{other + 1} by a click."
    cause = max(held, key=lambda each: held[each])
    if held[cause]:
        return f"x{cause + 1} explains the effect away: x{other + 1} is back from {then} to {last}, exactly."
    return f"Not x{cause + 1}: the others must explain the effect, x{other + 1} {then} → {last}, exactly."


def _cause(record) -> str:
    """When undamped max-product on a loop never comes to rest, where that is what is seen; else nothing."""
    factors = [factor for factor in record.target.model.factors() if len(factor.scope) == 2]
    loop = not record.is_tree and len(factors) == len(record.edge_factor) / 2 == record.target.model.n
    undamped = record.settings.temperature == 0 and record.settings.damping == 0
    if not (loop and undamped and record.after.shape[1] == 2):
        return ""
    couplings = [float((factor.expanded() * SIGNS).sum()) for factor in factors]
    if np.prod(np.sign(couplings)) >= 0:
        return ""
    round_the_loop = "messages go round the loop, whose negative couplings are odd in number"
    return f": without damping {round_the_loop}, and come back reversed"


def _off(errors: Float[np.ndarray, " sweeps_1"] | None, last: int, words: str) -> str:
    """`words` with the largest error of the last sweeps, or nothing where there is no exact answer."""
    if errors is None:
        return ""
    error = float(np.max(errors[-last:]))
    return words.format(significant(error, 2)) if error > ROUNDING else ", to rounding"


def bethe_words(record, log_z: float | None) -> str:
    """Bethe's log Z of the last sweep beside the exact one, with the difference; empty where it is not defined."""
    bethe = float(record.bethe[-1]) if len(record.bethe) else float("nan")
    if not np.isfinite(bethe):
        return ""
    cycle = np.asarray(record.bethe[-(record.period or 1) :])
    low, high = (significant(float(end), 5) for end in (cycle.min(), cycle.max()))
    if low != high:
        exactly = "" if log_z is None else f", exactly {significant(log_z, 5)}"
        return f"In its cycle Bethe's estimate of log Z goes between {low} and {high}{exactly}."
    words = f"At the run's end Bethe's estimate of log Z is {significant(bethe, 5)}"
    if log_z is None:
        return f"{words}."
    if abs(bethe - log_z) < 1e-9:
        return f"{words}, the exact one to rounding."
    return f"{words}, exactly {significant(log_z, 5)}: a difference of {significant(bethe - log_z, 3)}."


def ties(record, sweep: int = -1) -> Bool[np.ndarray, " n"]:
    """Of which variables the two best states are equal, as far as the last beliefs of a run that settles can tell, or
    those of a `sweep` of one that does not.

    What the last change r of a message still leaves to come is, at the rate q at which changes die out, r / (1 - q) a
    message, and a belief adds up one a factor. A run that does not settle has no such limit: rounding alone ties it.
    """
    beliefs, changes = np.asarray(record.beliefs[sweep]), np.asarray(record.residual)
    best = np.sort(beliefs, 1)[:, ::-1]
    with np.errstate(divide="ignore"):
        apart = np.log(best[:, 0]) - np.log(best[:, 1])
    count = len(changes) - 1 - len(changes) // 2
    left = 0.0
    if record.period is None and count > 0 and 0 < changes[-1] < changes[len(changes) // 2]:
        rate = float(changes[-1] / changes[len(changes) // 2]) ** (1 / count)
        left = float(changes[-1]) / (1 - rate)
    return apart <= ROUNDING + left * np.bincount(record.edge_variable, minlength=len(beliefs))


def decoded_words(record, weigh: Callable[[np.ndarray], float], maximum: float | None) -> str:
    """The best state of every variable as max-product decodes it, and how far its log-weight is below the maximum."""
    cycle = _cycle(record)
    if len(cycle) > 1:
        return _decoded_in_turn(record.period, cycle)
    states, tied = np.asarray(record.beliefs[-1]).argmax(1), ties(record)
    if tied.all():
        return "At its end the beliefs tie: they prefer no state of any variable, and decide nothing."
    if tied.any():
        shown = _decoded(record, -1)
        return f"At its end each variable's best state gives x = {shown}; at a ? beliefs tie and decide nothing."
    words = f"At its end each variable's best state gives x = {' '.join(map(str, states.tolist()))}"
    if maximum is None:
        return f"{words}."
    loss = maximum - float(weigh(states))
    if loss <= EXACT * (1 + abs(maximum)):
        return f"{words}, which is a maximum of the log-weight."
    if not np.isfinite(loss):
        return f"{words}, which the factors forbid: the best state of each alone need not be a state of all."
    return f"{words}, whose log-weight is {significant(loss)} below the maximum."


def _decoded(record, sweep: int) -> str:
    """Each variable's best state after a sweep, "?" where two are equal."""
    states, tied = np.asarray(record.beliefs[sweep]).argmax(1), ties(record, sweep)
    return " ".join("?" if tie else str(state) for state, tie in zip(states.tolist(), tied, strict=True))


def _cycle(record) -> list[str]:
    """What the last period's sweeps decode, in turn; nothing of a run that does not repeat."""
    found = [_decoded(record, sweep) for sweep in range(-(record.period or 0), 0)]
    return [states for k, states in enumerate(found) if not k or states != found[k - 1]]


def _decoded_in_turn(period: int, cycle: list[str]) -> str:
    """Between which answers max-product goes round: many are counted, of which two are told."""
    kinds = list(dict.fromkeys(cycle))
    said = f"In its cycle of {integer(period)} sweeps each variable's best state gives x = "
    if len(kinds) == 2:
        told = f"{kinds[0]} and {kinds[1]} by turns"
    elif len(cycle) <= MOST_TURNS:
        told = f"{', '.join(cycle)}, and so on"
    else:
        told = f"{kinds[0]}, {kinds[1]} and {integer(len(kinds) - 2)} others in turn"
    return f"{said}{told}{'; at a ? beliefs tie' if '?' in told else ''}."


def thresholds_words(theta: float, correlation: float, difference: float) -> list[str]:
    """Three questions to the four joined variables at theta > 0, each with its own threshold and this run's answer.

    `correlation` is the exact E[s_i s_j] without a field, `difference` Bethe's log Z less the exact one. Stable belief
    propagation has correlations up to tanh artanh 1/2 = 1/2 on this graph (perturb-and-max-product, section 5.1).
    """
    at = significant(theta)
    learnable = "no" if correlation > STABLE_CORRELATION else "yes"
    side = "more" if correlation > STABLE_CORRELATION else "not more"
    stable = "yes" if theta < STABLE_THETA else "no"
    sign = "below" if theta < STABLE_THETA else "above"
    return [
        f"**Can Bethe learn it? {learnable.capitalize()}:** at θ = {at} the exact correlation is "
        f"{significant(correlation)}, {side} than the 1/2 that stable belief propagation reaches (threshold θ = .316).",
        f"**Is the symmetric fixed point stable? {stable.capitalize()}:** θ is {sign} artanh 1/2 = "
        f"{significant(STABLE_THETA)}.",
        f"**Is Bethe's log Z right? No, at no θ but 0:** here it is off by {significant(difference)}.",
    ]


__all__ = [
    "EXACT",
    "Milestone",
    "bethe_words",
    "decoded_words",
    "ends",
    "exact_from",
    "explaining_away",
    "messages_by_sweep",
    "milestones",
    "repeats_from",
    "thresholds_words",
    "ties",
    "verdict",
]
