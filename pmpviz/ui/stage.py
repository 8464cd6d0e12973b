"""The stage: the live player in a fragment of its own, what a person does on it, and the words beneath."""

from __future__ import annotations

import streamlit as st

from pmpviz.runs.device import device_words
from pmpviz.runs.layers import LAYERS, site_report
from pmpviz.runs.live import LiveRun
from pmpviz.ui import outlets
from pmpviz.ui.page import Page
from pmpviz.ui.player import Event, answered, events, player
from pmpviz.ui.session import Held, held
from pmpviz.ui.settings import keep_plan, kept_plan
from pmpviz.views import payload, sentences, table
from pmpviz.views.layered import site_words
from pmpviz.views.numbers import significant

TICK_SECONDS = 0.4
WAIT_SECONDS = 1.0
TABLE_SECONDS = 1.0
BAR = ("play", "step", "reset", "seed", "speed", "share", "code", "export")
TOOLS = {
    "none": "Look",
    "flip": "Flip a site",
    "field+": "Paint field up",
    "field-": "Paint field down",
    "clamp1": "Clamp to 1",
    "clamp0": "Clamp to 0",
    "free": "Clear",
}
FIELD_STEP = 1.0
MOST_EDITS = 20_000


def stage(page: Page) -> None:
    """The player of this page, fed five times in two seconds while something moves."""
    live = page.live
    if live is None:
        st.info("This plan's model is a file. Bring it under “From a file” in the side bar, and the run begins.")
        return
    tick = _tick(live)
    st.fragment(_stage, run_every=tick, key=f"stage-{page.id}")(page, tick)
    outlets.show_outlet(page.id)


def _tick(live: LiveRun) -> float | None:
    """Seconds to the next update: few while sweeps, what was asked for or the first picture come, more while only
    the reference does or a browser may not have drawn the last of it, None where nothing will be new."""
    view = live.view
    if live.busy or view.playing or (not view.lanes and view.trouble is None):
        return TICK_SECONDS
    waiting = view.truth is None and view.truth_trouble is None and view.trouble is None
    return WAIT_SECONDS if waiting or not live.settled else None


def _stage(page: Page, tick: float | None) -> None:
    holder = held(page.id)
    live = holder.live
    assert live is not None
    live.touch()
    key = f"player-{page.id}"
    changed = any([_answer(page, live, holder, event) for event in events(key)])
    done = None if live.busy else answered(key)
    view = live.view
    holder.seen_by(view.begun)
    tool, layer = st.session_state.get(f"tool:{page.id}", "none"), live.layer
    blob = payload.update(
        view, holder.sent, bar=BAR, speed=page.speed, tool=tool, layer=layer, hover=holder.hover, answered=done
    )
    late = [_answer(page, live, holder, event) for event in player(blob, key=key)]
    _words(page, live)
    if changed or any(late) or _tick(live) != tick:
        st.rerun()


def _words(page: Page, live: LiveRun) -> None:
    view = live.view
    if view.trouble:
        st.error(view.trouble[:1].upper() + view.trouble[1:] + ".")
    st.markdown(f"{sentences.computing(view, device_words())}.")
    st.caption(sentences.reference_words(view))


def _answer(page: Page, live: LiveRun, holder: Held, event: Event) -> bool:
    """Do what the event asks for; True where the whole page must be drawn again."""
    if event.type in ("play", "pause", "step", "reset"):
        getattr(live, event.type)()
        return event.type in ("play", "pause")
    if event.type == "seed":
        plan = kept_plan(page.id, page.plan)
        return _changed(page, live, plan.replace(seed=(plan.seed + 1) % 2**31))
    if event.type == "speed":
        st.session_state[f"speed:{page.id}"] = event.speed
        live.set_speed(event.speed)
        return True
    if event.type in ("share", "code", "export"):
        outlets.ask_for(page.id, live, event.type)
        return True
    if event.type == "mount":
        holder.sent.clear()
        return False
    if event.type == "hover":
        holder.hover = _hover(live, event)
        return False
    return _edit(page, live, event)


def _changed(page: Page, live: LiveRun, plan) -> bool:
    keep_plan(page.id, plan)
    live.set_plan(plan)
    return True


def _edit(page: Page, live: LiveRun, event: Event) -> bool:
    plan, n = kept_plan(page.id, page.plan), live.view.model.n if live.view.model is not None else 0
    sites = [site for site in event.sites or (event.site,) if 0 <= site < n]
    if not sites or event.tool == "none":
        return False
    if event.tool == "flip":
        live.flip(sites[0])
        return False
    field, clamp = dict(plan.field), dict(plan.clamp)
    for site in sites:
        if event.tool in ("field+", "field-"):
            field[site] = FIELD_STEP if event.tool == "field+" else -FIELD_STEP
        elif event.tool in ("clamp0", "clamp1"):
            clamp[site] = int(event.tool == "clamp1")
        else:
            field.pop(site, None)
            clamp.pop(site, None)
    if len(field) + len(clamp) > MOST_EDITS:
        st.toast(f"More than {MOST_EDITS:,} painted sites: clear some first.")
        return False
    return _changed(page, live, plan.replace(field=tuple(field.items()), clamp=tuple(clamp.items())))


def _hover(live: LiveRun, event: Event) -> tuple[int, int, tuple[str, ...]] | None:
    """What is known of the site under the pointer, as lines of text."""
    view = live.view
    if view.model is None or not 0 <= event.site < view.model.n or not 0 <= event.lane < len(view.lanes):
        return None
    report = live.ask(lambda run: site_report(event.site, run.lanes[event.lane].run, view.truth), wait=0.3)
    if report is None:
        return None
    lines = [f"site {report.site}: x = {report.value}", f"share of chains at 1: {significant(report.share)}"]
    if report.marginal is not None:
        source = "exact" if report.exact else "reference"
        lines.append(f"{source} p(x = 1): {significant(report.marginal)}")
    lines.append(f"local field: {significant(report.field)}")
    text = view.plan.model
    lines += [f"message from {site_words(view.model, text, i)}: {significant(v)}" for i, v in report.messages[:6]]
    return event.lane, event.site, tuple(lines)


def layer_control(page: Page, box) -> None:
    """What is laid over the picture."""
    live = page.live
    if live is not None:
        box.segmented_control("Show", LAYERS, key=f"layer:{page.id}", default="none", required=True)
        live.set_layer(st.session_state[f"layer:{page.id}"])


def tool_control(page: Page, box) -> None:
    """What a click or a stroke on the picture does."""
    box.segmented_control(
        "Click or drag to",
        list(TOOLS),
        format_func=TOOLS.__getitem__,
        key=f"tool:{page.id}",
        default="none",
        required=True,
    )


def race_table(page: Page) -> None:
    """The lanes' numbers and what they say, brought up to date once a second."""
    live = page.live
    if live is not None:
        run_every = TABLE_SECONDS if _tick(live) else None
        st.fragment(_table, run_every=run_every, key=f"table-{page.id}")(page)


def _table(page: Page) -> None:
    live = held(page.id).live
    if live is not None and live.view.lanes:
        st.markdown(f"**{sentences.verdict(live.view)}**")
        st.markdown(table.markdown(live.view))
