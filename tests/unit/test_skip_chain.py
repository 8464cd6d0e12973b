"""Texts as models: words, made-up announcements, links, the field and its learning, and Gaussians beside the chain."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from test_reproductions import check

from pmpviz import exact
from pmpviz.contract import detectors
from pmpviz.contract.fixtures import BY_NAME
from pmpviz.experiments.reproductions import find
from pmpviz.experiments.reproductions import skip_chain as reproduction
from pmpviz.experiments.reproductions.base import Request
from pmpviz.models import Ising, build_spec
from pmpviz.models.gaussian.chain import split_couplings
from pmpviz.models.text import (
    LINKS,
    Weights,
    announcement,
    announcements,
    fitted,
    links_of,
    read_words,
    skip_chain,
    trained,
)
from pmpviz.models.text.skip_chain import TRAINING_TEXTS, _log_likelihood, _stacked, objective_of
from pmpviz.models.text.words import FEATURES, features
from pmpviz.runs import advance, start
from pmpviz.samplers import make_sampler
from pmpviz.types import InputError, Target

PARAMETERS = len(FEATURES) + 2


def test_words_and_gaps_are_the_text():
    words = read_words("Dr. Ada B. Baker, of Baker Hall;\nshe talks at 14:30 .")
    assert words.words[:6] == ("Dr.", "Ada", "B.", "Baker", ",", "of")
    whole = "".join(gap + word for gap, word in zip(words.gaps, (*words.words, ""), strict=True))
    assert whole == words.text and "\n" in words.gaps[words.words.index("she")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no words"),
        ("no capital letter stands here", "capitalised"),
        ("The " * 10_001, "10,001 words"),
        ("x" * 200_001, "200,001 characters"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(text, said):
    with pytest.raises(InputError, match=said):
        read_words(text)


def test_ten_thousand_words_are_read():
    assert len(read_words("The cat " * 5000)) == 10_000


def test_links_join_equal_capitalised_words():
    words = read_words("Baker met Adams and Baker ; baker saw Baker .")
    assert links_of(words).tolist() == [[0, 4], [0, 8], [4, 8]]
    assert links_of(words, LINKS[1]).tolist() == [[0, 4], [4, 8]]
    with pytest.raises(InputError, match="consecutive ones alone"):
        links_of(read_words("Baker " * 700))


def test_an_announcement_is_its_seeds_and_marks_the_speakers_name():
    (words, labels), (again, _) = announcement(7), announcement(7)
    assert words == again and words != announcement(8)[0]
    named = [word for word, label in zip(words.words, labels, strict=True) if label]
    assert named and all(word[0].isupper() for word in named)
    assert "‹" not in words.text and len(labels) == len(words)
    cut, short = announcement(7, 300)
    assert len(announcement(7, 10_000)[0]) == 10_000
    assert len(cut) == len(short) == 300 and cut.words[: len(words)] == words.words


@pytest.mark.parametrize("text", ["Ada", "Ada spoke", "Ada spoke here"])
def test_the_shortest_texts_have_features_too(text):
    assert features(read_words(text)).shape == (len(text.split()), len(FEATURES))


def test_features_see_words_and_their_neighbours():
    words = read_words("Speaker : Dr. Ada Baker talks in Baker Hall .")
    table = {name: column for name, column in zip(FEATURES, features(words).T, strict=True)}
    ada, baker, hall = words.words.index("Ada"), 4, 7
    assert table["first name"][ada] and table["after a title"][ada]
    assert table["surname"][baker] and table["before a speaker's act"][baker]
    assert table["before a word of places"][hall] and not table["before a word of places"][baker]
    assert table["first of a line"][0] and table["after a speaker's mark"][2]


def test_the_field_weighs_labels_as_its_equation_says():
    words = read_words("Dr. Baker met Baker Baker today .")
    weights = Weights(np.linspace(-1, 1, len(FEATURES)), 1.5, 0.7)
    x = np.array([0, 1, 0, 1, 1, 0, 0])
    said = float((features(words) @ weights.theta) @ x + 1.5 * 1 + 0.7 * 3)
    assert float(skip_chain(words, weights).log_weight(x.astype(np.int8))) == pytest.approx(said, abs=1e-5)
    assert float(skip_chain(words, weights, LINKS[1], 2.0, 0.0).log_weight(x.astype(np.int8))) == pytest.approx(
        said + 1.5 - 0.7 * 3, abs=1e-5
    )


def test_the_likelihood_is_that_of_the_chain_and_has_its_gradient():
    texts = announcements(50, 3)
    data, rng = _stacked(texts, LINKS[0]), np.random.default_rng(0)
    parameters = np.abs(rng.normal(size=PARAMETERS)) * np.where(np.arange(PARAMETERS) < len(FEATURES), -1, 1)
    value, gradient = _log_likelihood(parameters, *data)
    wanted = 0.0
    for words, labels in texts:
        linked, n = links_of(words), len(words)
        heard = np.bincount(linked[:, 0], labels[linked[:, 1]], n) + np.bincount(linked[:, 1], labels[linked[:, 0]], n)
        field = features(words) @ parameters[: len(FEATURES)] + parameters[-2] * heard
        site = np.arange(n - 1)
        chain = Ising.from_edges(field, site, site + 1, np.full(n - 1, parameters[-1]))
        log_z = exact.solve(Target.of(chain)).log_z
        wanted += labels @ field + parameters[-1] * (labels[:-1] * labels[1:]).sum() - log_z
    assert value == pytest.approx(wanted, rel=1e-5)
    for place in range(PARAMETERS):
        step = 1e-5 * np.eye(PARAMETERS)[place]
        slope = (_log_likelihood(parameters + step, *data)[0] - _log_likelihood(parameters - step, *data)[0]) / 2e-5
        assert gradient[place] == pytest.approx(slope, rel=1e-4, abs=1e-4)


def test_learning_labels_other_announcements_better_with_links_than_without():
    weights = trained().weights
    right = {1.0: [], 0.0: []}
    for words, labels in announcements(9000, 12):
        for times, found in right.items():
            p1 = exact.solve(Target.of(skip_chain(words, weights, skip_times=times))).p1
            found.extend((p1 > 0.5) == labels)
    assert np.mean(right[1.0]) > 0.96 and np.mean(right[1.0]) > np.mean(right[0.0])
    assert weights.chain > 1 and weights.skip > 0.2
    few = fitted(announcements(0, 20), LINKS[1])
    assert few.texts == 20 and few.words == sum(len(words) for words, _ in announcements(0, 20))


@pytest.mark.parametrize("links", LINKS)
def test_the_kept_weights_are_where_the_likelihood_of_all_announcements_is_greatest(links):
    kept, texts = trained(links), announcements(0, TRAINING_TEXTS)
    weights = np.array([*kept.weights.theta, kept.weights.skip, kept.weights.chain])
    objective = objective_of(texts, links)
    value, slope = objective(weights)
    first, begun = objective(0 * weights)
    assert kept.words == sum(len(words) for words, _ in texts) and value < first
    assert np.abs(slope).max() < 1e-3 * np.abs(begun).max()


def test_the_builder_gives_the_field_of_its_announcement():
    model = build_spec("announcement:60,seed=3,links=consecutive,skip=0.5")
    words, _ = announcement(3, 60)
    same = skip_chain(words, trained(LINKS[1]).weights, LINKS[1], 1.0, 0.5)
    np.testing.assert_array_equal(model.bias, same.bias)
    assert len(model.pairs()) == len(same.pairs()) and model.n == 60


# Gaussians beside the chain.


def test_a_repeated_word_has_one_gaussian_and_other_couplings_one_each():
    words = read_words("Baker met Adams ; Baker Baker saw Adams .")
    i, j, w = skip_chain(words, Weights(np.zeros(len(FEATURES)), 2.0, 0.5)).pairwise()[1:]
    split = split_couplings(len(words), i, j, w)
    assert len(split.weight) == 2 and not len(split.edges[0])
    np.testing.assert_allclose(split.chain, [2.0] * 8 + [0.0])  # The set's own 0.5 has been taken off 4 - 5.
    consecutive = split_couplings(6, np.array([0, 2, 0]), np.array([2, 5, 1]), np.array([0.5, 0.5, -1.0]))
    assert len(consecutive.weight) == 0 and len(consecutive.edges[0]) == 2 and consecutive.chain[0] == -1.0


@pytest.mark.parametrize("name", ["text", "text_clamped"])
def test_a_texts_law_is_kept_and_reached(name):
    fixture = BY_NAME[name]
    assert detectors.exact_start(make_sampler("gaussian_chain"), fixture, jax.random.key(11)).passed
    run = start(make_sampler("gaussian_chain"), fixture.target, jax.random.key(2), 256)
    run, _ = advance(run, 200, record=False)
    run, _ = advance(run, 200, record=False, mean=True)
    np.testing.assert_allclose(run.time_average, exact.solve(fixture.target).p1, atol=0.01)


def test_too_many_couplings_are_refused_with_their_number():
    reason = make_sampler("gaussian_chain").spec.why_not(Target.of(build_spec("complete:800")))
    assert reason is not None and "318,801 couplings" in reason


def test_a_tiny_run_of_the_papers_table():
    setting = reproduction.Setting((24,), 1, 4, 400, 100, 4)
    rows = check(reproduction.run(Request(True, 1), setting))
    assert rows["texts with an exact answer, consecutive"].ours >= 0.9
    for name in (reproduction.GIBBS, reproduction.CHAINED):
        assert rows[f"RMSE of marginals, {name}"].ours <= 0.03
    assert rows["RMSE of log Z, bridge, HMC, whitened"].ours < 1
    assert find("dhmc-table-1") is find("skip-chain")
