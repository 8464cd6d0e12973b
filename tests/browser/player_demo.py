"""A page with the player alone: patterns rolled by numpy, thirty frames twice a second, and an echo of its events.

As on the app's pages each update goes back over the last two, since a browser may miss one.

`?silent=1` for a server that stands before its first run and does not hear Play, `&unit=draws` for what is counted.

`?lanes=4` for the number of lattices, `&graph=1` for a ring of nodes beside them, `&tool=...` for the tool in hand.
"""

import dataclasses
import json
from functools import partial

import numpy as np
import streamlit as st

from pmpviz.app.player import answer_events, player
from pmpviz.player.update import Cursors
from pmpviz.player.wire import Payload, encode, pack

SIDE, NODES, BATCH = 64, 24, 30
REPEATS = 3
KEY = "demo"
state = st.session_state
state.setdefault("run", {"epoch": 1, "sweep": 0, "playing": True, "hover": None, "echo": [], "bad": ("", 0)})
state.setdefault("cursors", Cursors())


def pattern(lane: int, sweep: int, n: int, epoch: int) -> np.ndarray:
    """Random bits of a lane, moved on by one site a sweep; another epoch has other bits."""
    return np.roll(np.random.default_rng((lane, epoch)).integers(0, 2, n), sweep)


def lane_update(payload: Payload, index: int, n: int, geometry: dict, sweeps: list[int], epoch: int) -> dict:
    frames = None
    if sweeps:
        bits = pack(np.stack([pattern(index, sweep, n, epoch) for sweep in sweeps]))
        frames = {"sweeps": sweeps, "bits": payload.add(bits, "u1")}
    words = {"algorithm": f"roll{index}", "label": f"Roll {index}", "badge": "exact"}
    style = {"colour": "#0072B2", "dash": "solid", "sub": "", "status": ""}
    return {"id": str(index), **words, **style, "n": n, "geometry": geometry, "frames": frames, "layer": None}


def ring(payload: Payload) -> dict:
    angle = 2 * np.pi * np.arange(NODES) / NODES
    nodes = 0.5 + 0.45 * np.stack([np.cos(angle), np.sin(angle)], 1)
    edges = np.stack([np.arange(NODES), np.roll(np.arange(NODES), -1)], 1)
    places = {"nodes": payload.add(nodes), "edges": payload.add(edges, "<i4")}
    return {"kind": "graph", "rows": 1, "cols": NODES, **places}


def update(run: dict, sweeps: list[int], epoch: int) -> bytes:
    payload, asked = Payload(), st.query_params
    lanes = [
        lane_update(payload, index, SIDE * SIDE, {"kind": "grid", "rows": SIDE, "cols": SIDE}, sweeps, epoch)
        for index in range(int(asked.get("lanes", 2)))
    ]
    if "graph" in asked:
        lanes.append(lane_update(payload, len(lanes), NODES, ring(payload), sweeps, epoch))
    meta = {
        "epoch": epoch,
        "begun": epoch,
        "playing": run["playing"],
        "tool": asked.get("tool", "none"),
        "bar": ["play", "step", "reset", "seed", "share"],
        "lanes": lanes,
        "traces": [],
        "marks": [],
        "hover": run["hover"],
    }
    if "unit" in asked:
        meta |= {"unit": asked["unit"], "speed": {"value": 1, "options": [1, 5]}}
    if "silent" in asked:
        meta |= {"playing": False, "said": ["Nothing has run yet: press Play."]}
    return encode(meta, payload.blobs)


def answer(run: dict, event) -> None:
    run["echo"].append(dataclasses.asdict(event))
    if event.type in ("play", "pause"):
        run["playing"] = event.type == "play"
    elif event.type == "step":
        run["playing"], run["sweep"] = False, run["sweep"] + 1
    elif event.type in ("reset", "seed"):
        run.update(epoch=run["epoch"] + 1, sweep=0)
        state["cursors"].clear()
    elif event.type == "hover":
        run["hover"] = {"lane": event.lane, "site": event.site, "lines": [f"<b>site {event.site}</b> answered"]}


def bad(run: dict, kind: str) -> bytes:
    """Bytes that are no update, or frames later than all others but of the epoch before."""
    if kind == "damaged":
        return f"damaged {run['bad'][1]}".encode() * 9
    late = run["sweep"] + 1000
    return update(run, list(range(late, late + BATCH)), run["epoch"] - 1)


@st.fragment(run_every=0.5)
def stage() -> None:
    run = state["run"]
    for kind in ("stale", "damaged"):
        if st.button(f"Send {kind} bytes", key=kind):
            run["bad"] = (kind, REPEATS)
    answer_events(KEY, partial(answer, run))
    kind, left = run["bad"]
    if left:
        run["bad"] = (kind, left - 1)
        blob = bad(run, kind)
        run["echo"].append({"type": kind})
    else:
        run["sweep"] += BATCH if run["playing"] and "silent" not in st.query_params else 0
        cursors = state["cursors"]
        blob = update(run, list(range(cursors.start("0") + 1, run["sweep"] + 1)), run["epoch"])
        cursors.sent("0", run["sweep"])
    player(blob, key=KEY, answer=partial(answer, run))
    with st.container(key="echo"):
        st.code(json.dumps(run["echo"]))


stage()
