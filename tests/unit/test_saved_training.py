"""A training as one file: given out, taken back, gone on with to the same bits."""

import io
import zipfile

import numpy as np
import pytest

from pmpviz.capabilities.learning import saved as saved_training
from pmpviz.capabilities.learning.plan import LearningPlan, learner
from pmpviz.io.datasets import parse_dataset
from pmpviz.runs import training
from pmpviz.types import InputError

PLAN = LearningPlan(data="bars:3x3", hidden=4, chains=12, batch=5, lanes=(learner("pcd", sweeps=2), learner("exact")))


@pytest.mark.brief
def test_a_training_goes_on_to_the_same_bits():
    data = parse_dataset(PLAN.data)
    lanes = [training.advance(lane, 7)[0] for lane in PLAN.begin(data)]
    plan, blobs = saved_training.unpack(saved_training.pack(PLAN, lanes))
    assert plan.to_dict() == PLAN.to_dict()
    resumed = [saved_training.restore(blob, fresh) for blob, fresh in zip(blobs, plan.begin(data), strict=True)]
    for old, new in zip(lanes, resumed, strict=True):
        one, other = training.advance(old, 9)[0], training.advance(new, 9)[0]
        assert new.iteration == 7 and other.iteration == 16
        np.testing.assert_array_equal(one.parameters["weight"], other.parameters["weight"])
        np.testing.assert_array_equal(one.fantasies, other.fantasies)


def _zip(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [b"", b"nothing", _zip(), _zip(plan_json=b"{}"), _zip(plan_json=b"[1, 2"), _zip(plan_json=b"\xff\xfe")],
    ids=["empty", "no zip", "no plan", "empty plan", "half a plan", "no text"],
)
def test_what_is_no_saved_training_is_refused_in_one_sentence(data):
    with pytest.raises(InputError) as error:
        saved_training.unpack(data)
    assert "\n" not in str(error.value) and "again" in str(error.value) or "give one" in str(error.value)


def test_a_lane_of_another_plan_is_refused():
    data = parse_dataset(PLAN.data)
    _, blobs = saved_training.unpack(saved_training.pack(PLAN, PLAN.begin(data)))
    for name, value in (("hidden", 5), ("seed", 1), ("chains", 13), ("batch", 6)):
        with pytest.raises(InputError):
            saved_training.restore(blobs[0], PLAN.replace(**{name: value}).begin(data)[0])
    with pytest.raises(InputError):
        saved_training.restore(blobs[1], PLAN.begin(data)[0])
