"""Models of more than two states on every page: shown, or refused in one sentence, whatever is clicked."""

from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from opened import go_to, open_page, own_run, run, update  # noqa: F401
from streamlit.testing.v1 import AppTest

from pmpviz.app import player as players
from pmpviz.app.asked import Asked
from pmpviz.app.model_picker import _load
from pmpviz.app.models import model_of
from pmpviz.app.uploads import STORE, uploaded
from pmpviz.capabilities.sampling import outlets
from pmpviz.capabilities.sampling.layers import layers_of
from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.page.stage import tools_of
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.io import load_model_bytes
from pmpviz.models.space import PALETTE
from pmpviz.player.wire import decode
from tests.thorough import case

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from few_states import FILES, MIXED, SEVENTEEN  # noqa: E402
from metropolis import Metropolis  # noqa: E402
from own_samplers import register  # noqa: E402

WAIT_SECONDS = 120
LANES = {"playground": {"lane1": "exact"}, "race": {"lane1": "exact", "lane2": "gumbel_table", "lane3": "unbiased"}}
SITE = 1


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """References of these tests stay in their own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PMPVIZ_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def brought(text: str) -> str:
    """The text of a plan's model for this file."""
    return f"file:{STORE.add('model.uai', text.encode(), _load).sha256}"


def opened(page: str, text: str, **query: str) -> AppTest:
    return open_page(page, {"model": brought(text), "chains": "12", **LANES.get(page, {}), **query})


def wait(test: AppTest, condition) -> dict:
    until, found = time.monotonic() + WAIT_SECONDS, {}
    while time.monotonic() < until:
        found = update(test)
        if found and condition(found):
            return found
        time.sleep(0.1)
        run(test)
    pytest.fail(f"not within {WAIT_SECONDS} s: {found}")


def blobs(test: AppTest) -> list[bytes]:
    return decode(test.get("bidi_component")[0].proto.bytes)[1]


def send(monkeypatch, test: AppTest, *sent: dict) -> AppTest:
    """The page once more, which finds these events of its player."""
    waiting = [players.parse(event) for event in sent]
    assert all(waiting)
    answers = lambda key, answer: [answer(waiting.pop(0)) for _ in list(waiting)]  # noqa: E731
    monkeypatch.setattr("pmpviz.app.stage.answer_events", answers)
    return run(test)


def stepped(monkeypatch, test: AppTest, steps: int = 1) -> AppTest:
    """The page after so many steps from sweep 0, with all of its frames sent anew."""
    for sweep in range(1, steps + 1):
        test = at_sweep(monkeypatch, send(monkeypatch, test, {"type": "step"}), sweep)
    return test


def at_sweep(monkeypatch, test: AppTest, sweep: int) -> AppTest:
    """The page once its lanes have come to this sweep, with all of their frames sent anew."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        test = send(monkeypatch, test, {"type": "mount"})
        if all(lane["frames"]["sweeps"][-1:] == [sweep] for lane in wait(test, lambda u: u["lanes"])["lanes"]):
            return test
        time.sleep(0.1)
    pytest.fail(f"not at sweep {sweep} within {WAIT_SECONDS} s")


def with_reference(test: AppTest) -> dict:
    """The page once the exact marginals stand beside those of its samples."""

    def known(trace: dict) -> bool:
        rows = [row["label"] for row in trace["bars"]["rows"]] if trace["id"] == "marginals" else []
        return any("exact" in label for label in rows) and not all("exact" in label for label in rows)

    return wait(test, lambda u: u["lanes"] and any(known(trace) for trace in u["traces"]))


# Each file on one page every day, and each page has some; the Playground has all of them in other tests.
SHOWN_ON = {"three": "race", "mixed": "playground", "sixteen": "race"}


@pytest.mark.parametrize(
    "name, page",
    [case(name, page, name=f"{name}-{page}", everyday=page == SHOWN_ON[name]) for name in FILES for page in LANES],
)
def test_a_model_of_more_states_shows(name, page, monkeypatch):
    test = opened(page, FILES[name])
    wait(test, lambda u: u["lanes"])
    model = model_of(brought(FILES[name]))
    space = model.space
    test = stepped(monkeypatch, test, 3)
    with_reference(test)
    test = at_sweep(monkeypatch, test, 3)
    found, held_blobs = update(test), blobs(test)
    for lane in found["lanes"]:
        assert lane["states"] == {
            "planes": space.planes,
            "colours": list(PALETTE[: space.states]),
            "names": [str(state) for state in range(space.states)],
        }
        frames = np.frombuffer(held_blobs[lane["frames"]["bits"]], np.uint8).reshape(-1, space.frame_bytes)
        assert len(frames) == len(lane["frames"]["sweeps"])
        assert (space.unpack(frames) < np.array(model.card)).all()
        strip = np.frombuffer(held_blobs[lane["strip"]], np.uint8).reshape(8, space.frame_bytes)
        assert (space.unpack(strip) < np.array(model.card)).all()
        assert lane["geometry"]["kind"] == "graph"
    edges = np.frombuffer(held_blobs[found["lanes"][0]["geometry"]["edges"]], "<i4").reshape(-1, 2)
    assert edges.tolist() == model.pairs().tolist()
    ids = [trace["id"] for trace in found["traces"]]
    assert ("spectrum" in ids) == (space.own is None) and "mmd-sweeps" in ids and "magnetisation" not in ids
    check_marginals(found, model, page)
    assert not test.error and not found["trouble"]


def check_marginals(found: dict, model, page: str) -> None:
    """The exact marginals stand beside those of the samples; the shares of states beside their exact values."""
    from pmpviz import exact
    from pmpviz.types import Target

    traces = {trace["id"]: trace for trace in found["traces"]}
    truth = exact.solve(Target.of(model)).marginals
    rows = {row["label"]: row["values"] for row in traces["marginals"]["bars"]["rows"]}
    padded = [np.pad(row, (0, model.space.states - len(row))) for row in truth]
    if page == "race":
        np.testing.assert_allclose(rows["exact"], np.mean(padded, 0), atol=1e-9)
        assert len(rows) == 1 + len(found["lanes"])
        return
    for site in range(model.n):
        np.testing.assert_allclose(rows[f"x{site} exact"], padded[site], atol=1e-9)
        assert sum(rows[f"x{site} samples"]) == pytest.approx(1)
    lines = traces["shares"]["lines"]
    np.testing.assert_allclose([line["exact"] for line in lines], np.mean(padded, 0), atol=1e-9)
    assert [line["colour"] for line in lines] == list(PALETTE[: model.space.states])


# Variables of one to four states have what the others have: layers, tools of every state, and states that some lack.
@pytest.mark.parametrize("name", [case(name, name=name, everyday=name == "mixed") for name in FILES])
def test_every_layer_tool_and_start_is_safe(name, monkeypatch):
    test = opened("playground", FILES[name], speed="0")
    model = model_of(brought(FILES[name]))
    test = stepped(monkeypatch, test)
    with_reference(test)
    tools = tools_of(model)
    assert list(tools) == ["none", "flip", *(f"clamp{k}" for k in range(model.space.states)), "free"]
    for layer in layers_of(["exact"]):
        test.session_state["layer:playground"] = layer
        run(test)
        shown = wait(test, lambda u: u["lanes"])["lanes"][0]["layer"]
        shown = wait(
            test, lambda u, w=layer: (u["lanes"][0]["layer"] is not None) == (w in ("local field", "marginal error"))
        )
        assert not shown["trouble"]
    for tool in tools:
        test.session_state["tool:playground"] = tool
        run(test)
        for kind in ("hover", "click", "paint"):
            test = send(monkeypatch, test, {"type": kind, "site": SITE, "sites": [SITE, 0], "tool": tool})
        found = wait(test, lambda u: u["lanes"])
        assert found["tool"] == tool and not found["trouble"] and not test.error
    for start in ("zeros", "ones", "stripes"):
        assert not wait(go_to(test, "playground", start=start), lambda u: u["lanes"])["trouble"]


def test_a_site_is_clamped_to_a_chosen_state_and_a_state_that_it_has_not_is_refused(monkeypatch):
    test = opened("playground", MIXED)
    wait(test, lambda u: u["lanes"])
    for tool, site, clamped in (("clamp3", 2, {2: 3}), ("clamp2", 0, {2: 3}), ("clamp2", 1, {1: 2, 2: 3})):
        test.session_state["tool:playground"] = tool
        test = send(monkeypatch, run(test), {"type": "click", "site": site, "sites": [site], "tool": tool})
        plan, _ = test.session_state["plan:playground"]
        assert dict(plan.clamp) == clamped
        if not clamped.get(site):
            assert [toast.value for toast in test.toast] == ["Site 1 has 2 states, from 0: it cannot be clamped to 2."]
    test = stepped(monkeypatch, test)
    found = update(test)
    frames = np.frombuffer(blobs(test)[found["lanes"][0]["frames"]["bits"]], np.uint8).reshape(-1, 2)
    x = model_of(brought(MIXED)).space.unpack(frames)
    assert (x[-1, 1:3] == [2, 3]).all()


def test_what_is_known_of_a_site_is_said_of_each_state(monkeypatch):
    test = opened("playground", FILES["three"])
    test = stepped(monkeypatch, test)
    with_reference(test)
    test = send(monkeypatch, test, {"type": "hover", "site": 2})
    lines = wait(test, lambda u: u["hover"])["hover"]["lines"]
    assert [line.split(":")[0] for line in lines] == [
        "site 3",
        "shares of chains",
        "exact p(x = k)",
        "p(x = k | the rest)",
    ]
    assert all(line.count("·") == 2 for line in lines[1:])


DIALOGS = ("share", "code", "export")


def _dialogs():
    """Every day each dialog has each page and each file, on one page or the other."""
    for d, dialog in enumerate(DIALOGS):
        for f, name in enumerate(FILES):
            for p, page in enumerate(LANES):
                yield case(dialog, name, page, name=f"{dialog}-{name}-{page}", everyday=(d + f + p) % 2 == 0)


@pytest.mark.parametrize("dialog, name, page", _dialogs())
def test_every_dialog_opens(dialog, name, page, monkeypatch):
    test = opened(page, FILES[name])
    wait(test, lambda u: u["lanes"])
    test = stepped(monkeypatch, test)
    test = send(monkeypatch, test, {"type": dialog})
    if dialog == "export":
        files = {button.label: button for button in test.get("download_button")}
        pictures = {"picture.png"} if page == "playground" else {"picture1.png", "picture2.png"}
        assert {"samples.npz", "traces.npz", "traces.csv", *pictures, "manifest.json", "again.py", "model.npz"} <= set(
            files
        )
    if dialog == "code":
        assert "shares of states" in test.code[0].value


@pytest.mark.parametrize("name", FILES)
def test_the_files_of_a_run_hold_its_states(name):
    plan = Plan(model=brought(FILES[name]), chains=5, lanes=(sampler("exact"),))
    live = LiveRun(plan, uploaded)
    live.touch()
    live.step()
    until = time.monotonic() + WAIT_SECONDS
    while (live.busy or not live.view.lanes or live.view.lanes[0].sweep < 1) and time.monotonic() < until:
        live.touch()
        time.sleep(0.05)
    view, samples = live.ask(lambda run: (run.publish(), run.view, outlets.note(run))[1:], wait=10)
    live.close()
    made = {file.name: file.make() for file in outlets.files(Asked("export", "playground", view, samples))}
    assert json.loads(made["manifest.json"]) and made["picture.png"][:4] == b"\x89PNG"
    again = load_model_bytes("model.npz", made["model.npz"]).model
    for x in samples.samples["lane1"]:
        assert float(again.log_weight(x)) == pytest.approx(float(view.model.log_weight(x)), rel=1e-5)
    head = made["traces.csv"].decode().splitlines()[0]
    assert "share of state 2:mean" in head and "magnetisation" not in head
    with np.load(io.BytesIO(made["samples.npz"])) as file:
        assert file["x"].shape == (5, view.model.n) and (file["x"] < np.array(view.model.card)).all()


# Every day each page and each model once.
@pytest.mark.parametrize(
    ("name", "page"),
    [
        case(name, page, name=f"{name}-{page}", everyday=(name == "mixed") == (page == "playground"))
        for name in ("three", "mixed")
        for page in LANES
    ],
)
def test_a_sampler_of_one_s_own_runs_on_every_page(name, page, monkeypatch, request):
    register(request, Metropolis)
    lanes = {"lane1": "metropolis"} if page == "playground" else {"lane1": "metropolis", "lane2": "exact"}
    test = open_page(page, {"model": brought(FILES[name]), "chains": "12", **lanes})
    wait(test, lambda u: u["lanes"])
    test = stepped(monkeypatch, test, 2)
    found = with_reference(test)
    assert [lane["algorithm"] for lane in found["lanes"]] == list(lanes.values())
    test = at_sweep(monkeypatch, test, 2)
    before = states(test, FILES[name])
    test = send(monkeypatch, test, {"type": "click", "site": SITE, "sites": [SITE], "tool": "flip"})
    wait(test, lambda u: u["marks"])
    test = at_sweep(monkeypatch, test, 2)
    after, card = states(test, FILES[name]), model_of(brought(FILES[name])).card
    assert after[SITE] == (before[SITE] + 1) % card[SITE], "the next of the site's own states"
    assert np.flatnonzero(after != before).tolist() == [SITE]
    ids = [trace["id"] for trace in update(test)["traces"]]
    assert ("acceptance" in ids) == (page == "playground") and not test.error


def states(test: AppTest, text: str) -> np.ndarray:
    """Chain 0 of the first lane in its last frame."""
    lane, space = update(test)["lanes"][0], model_of(brought(text)).space
    return space.unpack(np.frombuffer(blobs(test)[lane["frames"]["bits"]], np.uint8).reshape(-1, space.frame_bytes))[-1]


def test_another_sampler_is_refused_in_one_sentence_and_exact_is_offered():
    test = opened("playground", FILES["three"], lane1="swendsen_wang")
    found = wait(test, lambda u: u["trouble"])
    assert not found["lanes"] and "\n" not in found["trouble"] and ". " not in found["trouble"]
    assert found["trouble"].startswith("Swendsen-Wang") and found["trouble"].endswith(".")
    assert any("reference waits for an algorithm that runs on this model" in caption.value for caption in test.caption)
    options = test.selectbox("playground_lane_algorithm").options
    assert "Exact sampler" in options and "Full-table Gumbel" in options
    test.selectbox("playground_lane_algorithm").set_value("exact")
    assert wait(run(test), lambda u: u["lanes"])["lanes"][0]["algorithm"] == "exact"


@pytest.mark.parametrize("page", LANES)
def test_more_states_than_colours_are_refused_in_one_sentence(page):
    test = opened(page, SEVENTEEN)
    found = wait(test, lambda u: u["trouble"])
    assert found["trouble"] == (
        "Pages show variables of up to 16 states, and variable 0 has 17; use `python -m pmpviz sample` for this model."
    )
    assert not found["lanes"]


def test_folds_speak_of_the_states(monkeypatch):
    test = opened("playground", MIXED)
    wait(test, lambda u: u["lanes"])
    run(test)
    equations = [latex.value for latex in test.latex]
    assert r"K_i \in \{1, 2, 3, 4\}" in equations[0] and "w_{ij}" not in equations[0]
    test = opened("playground", FILES["three"])
    wait(test, lambda u: u["lanes"])
    assert r"x_i \in \{0, \ldots, 2\}" in run(test).latex[0].value


HAS = {
    "three": "variables of 3 states",
    "mixed": "variables of 1 to 4 states",
    "sixteen": "variables of 2 to 16 states",
    "triple": "a factor of 3 variables",
}
TRIPLE = "MARKOV\n4\n2 2 2 2\n2\n3 0 1 2\n2 2 3\n8\n1 2 3 1 0.5 2 1 4\n4\n2 1 1 2\n"
OF_TWO_STATES = {"perturbation_lab": "lab_model", "frank_wolfe": "inference_model"}


@pytest.mark.parametrize("page", OF_TWO_STATES)
def test_a_refused_file_is_said_on_the_stage_and_nowhere_shown_as_built(page):
    """In its fold and above the stage, with the true reason, until something else is chosen."""
    key = OF_TWO_STATES[page]
    test = open_page(page, {})
    before = test.selectbox(f"{key}_builder").value
    test.file_uploader(f"{key}_file").set_value(("triple.uai", TRIPLE.encode(), "text/plain"))
    for _ in range(2):
        run(test)
        said = [box.value.replace("\\", "") for box in (*test.warning, *test.error)]
        assert len(said) == 2 and all("triple.uai was not taken" in words for words in said)
        assert all(HAS["triple"] in words and "takes it" in words for words in said)
        assert test.selectbox(f"{key}_builder").value == before
        assert not any("4 variables" in caption.value for caption in test.sidebar.caption)
    test.selectbox(f"{key}_builder").set_value("complete" if before != "complete" else "square")
    assert not run(test).warning


@pytest.mark.parametrize("name", FILES)
def test_the_lab_refuses_in_one_sentence(name):
    test = open_page("perturbation_lab", {"model": brought(FILES[name])})
    until = time.monotonic() + WAIT_SECONDS
    while not test.error and time.monotonic() < until:
        time.sleep(0.1)
        run(test)
    said = [box.value.replace("\\", "") for box in test.error]
    assert said == [
        f"The lab perturbs two-state variables with pairwise factors, and this model has {HAS[name]}; "
        "the Playground takes it."
    ]


@pytest.mark.parametrize("name", FILES)
def test_frank_wolfe_refuses_in_one_sentence(name):
    test = open_page("frank_wolfe", {"model": brought(FILES[name])})
    found = wait(test, lambda u: u.get("trouble"))
    assert found["trouble"] == (
        f"This page walks in models of two-state variables with pairwise factors, and this one has {HAS[name]}; "
        "`python -m pmpviz infer` takes it."
    )
    assert not found["lanes"]


@pytest.mark.parametrize("name", FILES)
def test_messages_shows_small_ones(name):
    test = open_page("messages", {"graph": brought(FILES[name]), "schedule": "parallel"})
    assert not test.error and not test.warning
    assert test.get("bidi_component")
