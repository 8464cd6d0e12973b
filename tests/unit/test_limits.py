"""What a page may ask of the server, and what is said to what is more."""

import pytest

from pmpviz.live.limits import Limits, read_limits
from pmpviz.models import build_spec
from pmpviz.runs import truth
from pmpviz.types import InputError, Target


def test_the_table_is_changed_by_a_text():
    assert read_limits("") == Limits()
    changed = read_limits("sites=100 reference_seconds=7")
    assert (changed.sites, changed.reference_seconds, changed.messages) == (100, 7, Limits().messages)


@pytest.mark.parametrize("text", ["places=3", "sites", "sites=", "sites=-1", "sites=0", "sites=many"])
def test_a_text_that_names_no_limit_is_refused_by_all_that_there_are(text):
    with pytest.raises(InputError, match=f"reference_seconds.*{text}"):
        read_limits(text)


def test_a_long_run_of_too_large_a_model_is_refused_before_it_begins():
    limits = Limits(reference_states=truth.SAMPLES * 100)
    steps = truth.build(Target.of(build_spec("square:40x40")), limits.check_reference)
    with pytest.raises(InputError, match="1,600 variables would take too much .* at most 100"):
        truth.finish(steps)


def test_exact_samples_are_no_long_run():
    limits = Limits(reference_states=1)
    assert truth.finish(truth.build(Target.of(build_spec("square:4x4")), limits.check_reference)).exact
