"""The stage: the live player in a fragment of its own, what a person does on it, and the words beneath."""

from __future__ import annotations

import streamlit as st

from pmpviz.app.address import kept_plan
from pmpviz.app.answers import Turn, answer, change, tick
from pmpviz.app.asked import ask_for
from pmpviz.app.player import Event
from pmpviz.app.session import held
from pmpviz.app.words import sentence
from pmpviz.capabilities.sampling import outlets, table
from pmpviz.capabilities.sampling import picture as payload
from pmpviz.capabilities.sampling import words as sentences
from pmpviz.capabilities.sampling.layers import LAYERS, site_report
from pmpviz.capabilities.sampling.live import LiveRun, LiveView
from pmpviz.capabilities.sampling.page import Page
from pmpviz.capabilities.sampling.settings import plan_to_query
from pmpviz.player.layered import site_words
from pmpviz.player.numbers import significant
from pmpviz.runs.device import device_words

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
    every = _tick(live)
    st.fragment(_stage, run_every=every, key=f"stage-{page.id}")(page, every)
    outlets.show_outlet(page.id)


def _tick(live: LiveRun) -> float | None:
    """As `tick`: slower while only the reference is to come."""
    view = live.view
    return tick(live, view.truth is None and view.truth_trouble is None and view.trouble is None, WAIT_SECONDS)


def _stage(page: Page, every: float | None) -> None:
    turn = Turn(page.id, lambda event: _answer(page, event))
    blob = payload.update(
        turn.view,
        turn.sent,
        bar=BAR,
        speed=page.speed,
        tool=st.session_state.get(f"tool:{page.id}", "none"),
        layer=turn.live.layer,
        hover=held(page.id).hover,
        answered=turn.answered,
    )
    turn.show(blob)
    _words(turn.live.view)
    if turn.changed or _tick(turn.live) != every:
        st.rerun()


def _words(view: LiveView) -> None:
    if view.trouble:
        st.error(sentence(view.trouble))
    st.markdown(f"{sentences.computing(view, device_words())}.")
    st.caption(sentences.reference_words(view))


def _answer(page: Page, event: Event) -> bool:
    """Do what the event asks for; True where the whole page must be drawn again."""
    holder = held(page.id)
    if event.type in ("click", "paint"):
        return _edit(page, holder.live, event)
    if event.type == "hover":
        holder.hover = _hover(holder.live, event)
        return False
    if event.type == "export":
        ask_for(event.type, page.id, holder.live, outlets.samples)
        return True
    return answer(page.id, event, plan_to_query)


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
    change(page.id, plan.replace(field=tuple(field.items()), clamp=tuple(clamp.items())), plan_to_query)
    return True


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
        st.markdown(table.markdown(live.view), help=table.HELP)
