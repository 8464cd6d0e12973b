"""The question above a moment that is looked back at is that of its own settings."""

from types import SimpleNamespace

import pytest

from pmpviz.capabilities.sampling.page import PAGES, stage
from pmpviz.capabilities.sampling.presets import PLAYGROUND


@pytest.mark.parametrize(("at", "as_before"), [(100, True), (None, False)])
def test_the_question_is_of_the_settings_of_the_picture_on_screen(monkeypatch, at, as_before):
    preset = PLAYGROUND[0]
    then = SimpleNamespace(plan=preset.plan)
    live = SimpleNamespace(waits_for=lambda plan: False, view=SimpleNamespace(at=lambda sweep: then))
    monkeypatch.setattr(stage, "held", lambda page: SimpleNamespace(at=at, live=live))
    now = preset.plan.replace(beta=preset.plan.beta * 9.8)
    question = stage.SamplingStage(PAGES["playground"], preset, now).question()
    assert (question == preset.question) == as_before
    assert ("T = 0.10" in question) != as_before
