"""The verdict of a training: what its hidden units stand for and are worth, or which of two learners is ahead."""

from __future__ import annotations

import math

from pmpviz.capabilities.learning.lane import LearningLaneView, LearningPoint
from pmpviz.capabilities.learning.likelihood import LEAST_LOSS, Likelihood, best_of, is_past_best
from pmpviz.capabilities.learning.live import LearningView
from pmpviz.models import LayeredModel
from pmpviz.player.numbers import integer, seconds, significant, times

# So many looks at the samples in a row must agree before they are judged: one alone may be in or out by chance.
LOOKS = 4
# So many estimates of the likelihood in a row.
SURE_LOOKS = 2
# Nats a picture of which the loss is told in the first place; less comes and goes while it learns.
ALARMING = 1.0
# Correlation of neighbouring pixels' weights from which filters are no noise any more; from which these share a sign
# often, and mostly.
BEGUN, OFTEN, MOSTLY = 0.15, 0.3, 0.45
# Share of squared weights from which one pattern of all filters is what is seen of each. Of digits it is 0.4 to 0.6
# until iteration 160, then falls to 0.06; it comes to rest below 0.25 in every preset.
ALIKE = 1 / 3
# How many times as many pixels a filter has spread over before, from which on that is told.
NARROWER = 1.5
FOUND = {
    "noise": "The filters are still noise: neighbouring weights share a sign by chance",
    "alike": "The filters are alike: much of each (drawn on its own scale) is one pattern that all share",
}
# Nats a picture, of which fewer than over independent pixels are little, and of which fewer are no factor to tell.
LITTLE, LEAST_FACTOR = 1.0, 0.05
MMD_NOTE = (
    "Sees mostly the pixels' means, which are learned first, and can rise while the model gets better. Go by the "
    "likelihood{}."
)
# Of learners that match a sampler of their own.
OF_SAMPLERS = " for the weights as a Boltzmann machine, and by this for the samplers that are learned"


def scored(view: LearningView) -> str:
    """What likelihood and MMD are of."""
    return "held-out data" if view.held_out else "all the data"


def capital(words: str) -> str:
    """With a capital first letter."""
    return words[:1].upper() + words[1:]


def verdict(view: LearningView) -> str:
    """What the hidden units stand for, or which of two lanes makes the pictures more probable."""
    if not view.lanes:
        return "" if view.trouble else f"{capital(view.status)} …"
    if not any(lane.iteration for lane in view.lanes):
        return "Nothing is learned yet, and what is seen is the random start: press Play."
    if len(view.lanes) > 1:
        return _ahead(view)
    lane = view.lanes[0]
    return worse(lane, view) or stands_for(lane, view) or probable(lane, view)


def longest(view: LearningView) -> str:
    """About the longest verdict that a class is to see, whose room is kept before it is found."""
    if not view.lanes:
        return ""
    if len(view.lanes) == 1:
        worth = f"{_pictures(view)} are {_factor(9.0)} more probable than by independent pixels"
        return f"{_pixels(99, 100, ' (999 at iteration 1 000)', 'at times')}; at iteration {integer(1000)} {worth}."
    than = " than with ".join(_names(view)[:2])
    at = f"At iteration {integer(1000)}, the last that both have"
    than += _as_scored(view)
    return f"{at}, pictures are {_factor(1.1)} more probable with {than}. In equal time: {_factor(1.1)} more probable."


def worse(lane: LearningLaneView, view: LearningView) -> str:
    """By how much what is scored was more probable before, where that is beyond the errors; else nothing."""
    best, last = best_of(lane.likelihoods), last_of(lane)
    # A single estimate may be off by far more than it knows.
    if best is None or last is None or not is_past_best(lane.likelihoods, 1 if last.exact else SURE_LOOKS):
        return ""
    if best.value - last.value < ALARMING:
        return ""
    far = _factor(best.value - last.value)
    when = f"at iteration {integer(best.iteration)} than at {integer(last.iteration)}"
    return f"It has got worse: {_pictures(view)} were {far} more probable {when}."


def stands_for(lane: LearningLaneView, view: LearningView) -> str:
    """What the hidden units have come to, by the weights themselves, and what that is worth."""
    if not math.isfinite(lane.points[-1].agree):
        return ""
    found, worth = FOUND.get(_looks(lane.points[-1])) or _found(lane), _worth(lane, view)
    if worth and _is_little(lane):  # Filters that are worth nothing are not praised first.
        return f"{capital(worth)}; {found[:1].lower()}{found[1:]}."
    return f"{found}; {worth}." if worth else f"{found}."


def _looks(point: LearningPoint) -> str:
    """What filters look like: noise, one pattern in all of them, or each a part of the picture."""
    if point.agree < BEGUN:
        return "noise"
    return "alike" if point.alike >= ALIKE else "parts"


def _found(lane: LearningLaneView) -> str:
    """Over how many pixels a filter spreads, and did at most before, and how its neighbouring weights agree."""
    assert isinstance(lane.model, LayeredModel)
    now, pixels = lane.points[-1], lane.model.visible
    widest = max((point for point in lane.points if _looks(point) == "parts"), key=lambda point: point.spread)
    count, most = (max(1, round(point.spread * pixels)) for point in (now, widest))
    before = f" ({integer(most)} at iteration {integer(widest.iteration)})" if most >= NARROWER * count else ""
    share = "mostly" if now.agree >= MOSTLY else "often" if now.agree >= OFTEN else "at times"
    return _pixels(count, pixels, before, share)


def _pixels(count: int, pixels: int, before: str, share: str) -> str:
    stands = f"Most of a hidden unit's weight lies on about {integer(count)} of the {integer(pixels)} pixels{before}"
    return f"{stands}, and neighbouring weights {share} share a sign"


def _is_little(lane: LearningLaneView) -> bool:
    """Whether the last likelihood is hardly above that of independent pixels, or below it."""
    last = last_of(lane)
    return last is not None and last.value - lane.independent < LITTLE


def _worth(lane: LearningLaneView, view: LearningView) -> str:
    """How much more probable than by independent pixels what is scored is, and was; nothing before that is known."""
    last = last_of(lane)
    # What was found long before is not of these filters.
    if last is None or _is_old(last, lane):
        return ""
    than = "probable than by independent pixels"
    pictures = f"{_when(last, lane)}{_pictures(view)} are"
    if last.high <= lane.independent:
        return f"{pictures} {'less' if _is_worse(last, lane) else 'no more'} {than}"
    if last.low <= lane.independent:  # No further from them than the errors reach.
        best = best_of(lane.likelihoods)
        if best is not None and best.low > max(last.high, lane.independent):
            was = f"at best, at iteration {integer(best.iteration)}, {_factor(best.value - lane.independent)} above"
            return f"{_when(last, lane)}the likelihood has fallen back to that of independent pixels ({was})"
        yet = "any more" if best is not None and best.low > lane.independent else "yet"
        return f"{_when(last, lane)}the likelihood cannot be told {yet} from that of independent pixels"
    gain = last.value - lane.independent
    only = "only " if gain < LITTLE else ""
    down = _down(lane, gain) if math.isfinite(last.high) else ""
    return f"{pictures} {only}{_lead(last, lane.independent)} more {than}{down}"


def _when(found: Likelihood, lane: LearningLaneView) -> str:
    """Of which iteration it is, where that is not the one on screen."""
    return "" if found.iteration == lane.iteration else f"at iteration {integer(found.iteration)} "


def _is_old(last: Likelihood, lane: LearningLaneView) -> bool:
    return 2 * last.iteration < lane.iteration


def _down(lane: LearningLaneView, gain: float) -> str:
    """What it was at the best, where the curve has come down by more than the errors, and one sees it."""
    best, last = best_of(lane.likelihoods), last_of(lane)
    assert best is not None and last is not None
    if best.low <= last.high:
        return ""
    was = best.value - lane.independent
    # In the unit that the gain is told in, and only where that shows a fall.
    told = _times if gain >= LEAST_FACTOR else lambda nats: significant(nats, 2)
    if told(was) == told(gain) or significant(was, 2) == significant(gain, 2):
        return ""
    before = f"{_times(was)} times" if gain >= LEAST_FACTOR else f"{told(was)} nats"
    return f" (at best {before}, at iteration {integer(best.iteration)})"


def _factor(nats: float, least: bool = False) -> str:
    """A difference of log probabilities as what a class can picture, or what it is at `least`."""
    words, bound = f"{significant(nats, 3 if nats >= 1 else 2)} nats", "at least" if least else "about"
    if nats >= LEAST_FACTOR:
        return f"{bound} {_times(nats, least)} times ({words})"
    return f"{bound} {words}" if least else words


def _lead(first: Likelihood, value: float) -> str:
    """By what factor a likelihood is above a `value`: at least, where its error has no upper end."""
    if math.isfinite(first.high):
        return _factor(first.value - value)
    return _factor(max(first.low - value, 0.0), least=True)


def _times(nats: float, least: bool = False) -> str:
    """The factor, of the nats as they are printed: one number told in two ways."""
    return times(float(f"{nats:.3g}"), least)


def _pictures(view: LearningView) -> str:
    return "held-out pictures" if view.held_out else "the pictures"


def _ahead(view: LearningView) -> str:
    """Which lane is ahead by the likelihood at the last iteration at which that of all is known."""
    known = [{each.iteration: each for each in lane.likelihoods} for lane in view.lanes]
    common = set.intersection(*map(set, known))
    if not common:
        return f"{_behind(view)}{' '.join(filter(None, (_at_equal_seconds(view, set()).strip(), _apart(view))))}"
    at = max(common)
    found = sorted(zip(_names(view), view.lanes, (each[at] for each in known), strict=True), key=lambda e: -e[2].value)
    (best, lane, first), (other, behind, second) = found[0], found[-1]
    # Their pictures are of other iterations by then.
    last = ", the last that both have," if any(lane.iteration > 2 * at for lane in view.lanes) else ""
    scored = _as_scored(view)
    when, than = f"At iteration {integer(at)}{last}", f"more probable with {best} than with {other}{scored}"
    timed, then = _at_equal_seconds(view, {each[at].iteration for each in known}), _samples(view, at)
    if is_far_behind(view) and timed:  # What is seen is of other iterations by far.
        when = f"{timed.strip()} {when}"
    else:
        then = f"{timed}{then}"
    if not first.high > lane.independent:
        words = f"{when} pictures are no more probable than by independent pixels, with {best} or with {other}{scored}"
        return f"{words}.{then}"
    if first.value - lane.independent < LITTLE and second.high > behind.independent - LITTLE:
        timed, apart = _at_equal_seconds(view, set()), _behind(view)
        if last and timed:  # Beside curves that have gone far beyond it, that iteration says nothing.
            return f"{apart}{timed.strip()}{_samples(view, at)}"
        if last:
            late = min(view.lanes, key=lambda lane: max(each.iteration for each in lane.likelihoods))
            return f"{apart}Too early to compare: of {late.label} no likelihood after iteration {integer(at)} is known."
        early = f"{when} it is too early to compare{scored.replace(',', ' them')}"
        return f"{early}: pictures are hardly more probable than by independent pixels.{then}"
    if first.low > second.high or (first.exact and second.exact and first.value > second.value):
        chance = _below_chance(other, behind, second)
        if first.value - second.value < LEAST_FACTOR:
            apart = _factor(first.value - second.value)
            return f"{when} pictures are as probable with {best} as with {other}{scored}, to {apart}{chance}.{then}"
        return f"{when} pictures are {_lead(first, second.value)} {than}{chance}.{then}"
    return f"{when} it is within the errors of the estimates whether pictures are {than}.{then}"


def mmd_note(view: LearningView) -> str:
    """What MMD² sees, and by which number to go."""
    return MMD_NOTE.format(OF_SAMPLERS if _as_scored(view) else "")


def _as_scored(view: LearningView) -> str:
    """Of whose law the likelihood is, where learners match another one."""
    return ", as Boltzmann machines" if any(lane.guarantee == "approximate" for lane in view.lanes) else ""


def _at_equal_seconds(view: LearningView, compared: set[int]) -> str:
    """Which lane is ahead after as long computing, by the last likelihoods of each up to then; nothing where those are
    of the iterations that are compared already, or one has none yet."""
    if not all(lane.likelihoods for lane in view.lanes):
        return ""
    took = min(max(each.seconds for each in lane.likelihoods) for lane in view.lanes)
    known = [[each for each in lane.likelihoods if each.iteration and each.seconds <= took] for lane in view.lanes]
    if not all(known):
        return ""
    last = [max(each, key=lambda one: one.iteration) for each in known]
    if {each.iteration for each in last} == compared:
        return ""
    found = sorted(zip(_names(view), view.lanes, last, strict=True), key=lambda each: -each[2].value)
    (best, _, first), (_, lane, second) = found[0], found[-1]
    # Neither by the errors, nor because the other is measured only a little later.
    soon = min((each for each in lane.likelihoods if each.seconds > took), key=lambda e: e.seconds, default=second)
    when, gap = (
        f" In equal time ({seconds(took)} of computing each, as far as both are scored)",
        first.value - second.value,
    )
    exact = first.exact and second.exact
    if second.high >= first.low and not exact:
        return f"{when} the errors leave open which is ahead."
    if gap < LEAST_FACTOR:
        return f"{when} neither is ahead by more than {significant(LEAST_FACTOR, 1)} nats."
    if soon.high >= first.low:
        return f"{when} it is too early to say which is ahead."
    return f"{when} pictures are {_lead(first, second.value)} more probable with {best}."


def _below_chance(name: str, lane: LearningLaneView, now: Likelihood) -> str:
    """That a lane is no better than independent pixels by `now`, or has fallen below them; nothing where it is."""
    if now.high > lane.independent:
        return ""
    best = best_of([each for each in lane.likelihoods if each.iteration <= now.iteration])
    assert best is not None
    if best.low > max(lane.independent, now.high) + LEAST_LOSS:
        return f"; {name}, best at iteration {integer(best.iteration)}, was below independent pixels by then"
    return f"; {name} does {than_chance(now, lane)} independent pixels"


def than_chance(found: Likelihood, lane: LearningLaneView) -> str:
    """How it compares with independent pixels, where it is not above them."""
    return "worse than" if _is_worse(found, lane) else "no better than"


def _is_worse(found: Likelihood, lane: LearningLaneView) -> bool:
    """Whether it is beyond its errors below what independent pixels give, by more than nothing."""
    return found.high < lane.independent - LEAST_LOSS


def _samples(view: LearningView, at: int) -> str:
    """How near the data the samples of each are, by the last looks at them up to this iteration."""
    found = [_nearness(lane, at) for lane in view.lanes]
    if len(set(found)) == 1:
        return f" Samples of both are {found[0]}."
    last = [max((each.iteration for each in lane.points if each.iteration <= at), default=0) for lane in view.lanes]
    when = [f" at iteration {integer(each)}" if len(set(last)) > 1 else "" for each in last]
    told = "; those of ".join(
        f"{name}{then} are {near}" for name, then, near in zip(_names(view), when, found, strict=True)
    )
    return f" Samples of {told}."


def _nearness(lane: LearningLaneView, at: int) -> str:
    looks = [point for point in lane.points if 0 < point.iteration <= at][-LOOKS:]
    off = sum(look.mmd2 > look.noise for look in looks)
    if not off:
        return "as near the data as chance allows"
    return "unlike the data" if off == len(looks) else "at times unlike the data"


def _apart(view: LearningView) -> str:
    """How probable pictures are with each, of different iterations as yet, which are not compared."""
    found = [(name, last_of(lane)) for name, lane in zip(_names(view), view.lanes, strict=True)]
    known = [
        f"{significant(last.value, 4)} with {name} at iteration {integer(last.iteration)}"
        for name, last in found
        if last
    ]
    if len(known) < len(found):
        return "No iteration at which the likelihood of both is known yet."
    return f"Log probability of a picture{_as_scored(view)}: {', '.join(known)}."


def _names(view: LearningView) -> list[str]:
    """What lanes are called beside one another: those of one algorithm by what differs alone."""
    parts = [lane.label.split(" · ", 1) for lane in view.lanes]
    alike = len({part[0] for part in parts}) == 1
    return [part[-1] if alike else " · ".join(part) for part in parts]


def _behind(view: LearningView) -> str:
    """Which lane has come less than half as far as the other."""
    less, more = sorted(view.lanes, key=lambda lane: lane.iteration)
    behind = is_far_behind(view)
    where = f"at iteration {integer(less.iteration)} where {more.label} is at {integer(more.iteration)}"
    return f"{less.label} is behind, {where}. " if behind else ""


def is_far_behind(view: LearningView) -> bool:
    """Whether one lane has come less than half as far as the other by iterations."""
    done = [lane.iteration for lane in view.lanes]
    return 2 * min(done) < max(done)


def last_of(lane: LearningLaneView) -> Likelihood | None:
    """The likelihood of the latest iteration at which it is known."""
    return max(lane.likelihoods, key=lambda each: each.iteration, default=None)


def probable(lane: LearningLaneView, view: LearningView) -> str:
    """How probable a picture is, beside pixels that know nothing of each other."""
    found = last_of(lane)
    if found is None or _is_old(found, lane):
        before = "" if found is None else f" Last it was {value_words(found)}."
        return (
            f"The likelihood of {scored(view)} is not known of these weights yet: it is computed beside them.{before}"
        )
    apart = significant(lane.independent, 4)
    if found.high <= lane.independent:
        far = f"{than_chance(found, lane)} pixels that know nothing of each other ({apart})"
    else:
        far = f"pixels that know nothing of each other give {apart}"
    which = "A held-out picture" if view.held_out else "A picture"
    return f"{which} has log probability {value_words(found)}; {far}."


def value_words(found: Likelihood) -> str:
    """A likelihood with its error and its iteration."""
    how = "exact" if found.exact else f"estimated, {_bar(found)}"
    return f"{significant(found.value, 4)} nats ({how}) at iteration {integer(found.iteration)}"


def _bar(found: Likelihood) -> str:
    if not math.isfinite(found.high):
        return f"within three standard errors at least {significant(found.low, 4)}; how much more is not known"
    return f"within three standard errors {significant(found.low, 4)} to {significant(found.high, 4)}"


__all__ = [
    "capital",
    "last_of",
    "longest",
    "mmd_note",
    "probable",
    "scored",
    "stands_for",
    "than_chance",
    "value_words",
    "verdict",
    "worse",
]
