"""UAI: every rule of the grammar, results, round trips, and what each malformed text is told."""

import math

import numpy as np
import pytest
from table_models import brute_force, random_model

from pmpviz.io.uai import parse_evid, read_evid, read_uai, write_evid, write_map, write_mar, write_pr, write_uai
from pmpviz.models import build_spec
from pmpviz.models.tables import TableModel, from_ising
from pmpviz.types import InputError

SMALL = """MARKOV
2
2 3
2
1 1
2 1 0

3
 0.5 1 2
6
 1 2 3 4 5 6
"""


def same_law(a: TableModel, b: TableModel, tolerance=1e-12):
    assert a.card == b.card
    logs = [brute_force(m.card, m.factors, float(m.constant))[1] for m in (a, b)]
    np.testing.assert_allclose(*logs, rtol=1e-13, atol=tolerance)


def test_the_last_variable_varies_fastest_and_scopes_keep_their_order():
    model = read_uai(SMALL)
    assert model.card == (2, 3) and [scope for scope, _ in model.factors] == [(1,), (1, 0)]
    # x0 = 1, x1 = 2: table 0 gives 2, table 1 row 2 (x1), column 1 (x0) gives 6.
    assert float(model.log_weight(np.array([1, 2], np.int8))) == pytest.approx(math.log(2 * 6), rel=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("\n", " "),
        SMALL.replace(" ", "\n\n"),
        "c a comment\n" + SMALL.replace("2\n1 1", "2\nc another 7 7\n1 1"),
        SMALL.replace("\n", "\r\n").replace(" ", "\t"),
        SMALL.replace("MARKOV", "BAYES"),
    ],
    ids=["one line", "a word a line", "comments", "tabs", "bayes"],
)
def test_white_space_comments_and_heads(text):
    same_law(read_uai(text), read_uai(SMALL), 0)


def test_constant_factors_repeated_scopes_and_zeros():
    text = "MARKOV 3 2 2 2 4  0  3 2 0 1  1 1  1 1  1 7  8 1 2 3 4 5 6 7 0  2 1 3  2 1 5"
    model = read_uai(text)
    assert float(model.constant) == pytest.approx(math.log(7))
    assert float(model.log_weight(np.array([1, 1, 1], np.int8))) == -np.inf
    weight = math.log(7 * 6 * 3 * 5)  # scope (2, 0, 1) at x2, x0, x1 = 1, 0, 1 is entry 5.
    assert float(model.log_weight(np.array([0, 1, 1], np.int8))) == pytest.approx(weight, rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_models_survive_the_round_trip(seed):
    model = random_model(seed)
    same_law(read_uai(write_uai(model)), model)


def test_large_logarithms_survive_the_round_trip():
    table = np.array([[5000.0, 5600, -np.inf], [5100, 5001, 5002]])
    model = TableModel.of([2, 3], [((0, 1), table), ((1,), np.array([-3000.0, -3001, -3002]))], -1500.0)
    again = read_uai(write_uai(model))
    same_law(again, model, 1e-9)
    with pytest.raises(InputError, match="factor 0 spans more than"):
        write_uai(TableModel.of([2], [((0,), np.array([-700.0, 700.0]))]))


def test_forbidden_constant_survives():
    assert float(read_uai(write_uai(TableModel.of([2], [], -np.inf))).constant) == -np.inf


def test_an_ising_model_is_written_by_its_tables():
    model = build_spec("square:3x3,J=0.3,h=0.1")
    same_law(read_uai(write_uai(model)), from_ising(model))


def test_files_are_read_by_path(tmp_path):
    path = tmp_path / "a.uai"
    path.write_text(SMALL)
    same_law(read_uai(path), read_uai(SMALL), 0)
    same_law(read_uai(str(path)), read_uai(SMALL), 0)
    with pytest.raises(InputError, match="there is no file"):
        read_uai(tmp_path / "b.uai")
    with pytest.raises(InputError, match="a.uai, line 2: "):
        path.write_text("MARKOV\nx")
        read_uai(path)


@pytest.mark.parametrize(
    "text, message",
    [
        ("\n", "the text ends where MARKOV or BAYES should follow"),
        ("CSP 1\n2 0", "begins with 'CSP'"),
        ("MARKOV", "ends where the number of variables"),
        ("MARKOV\n-1\n", "line 2: the number of variables is '-1'"),
        ("MARKOV\n99999999\n2", "line 2: 99999999 variables are announced, but only 1 words follow"),
        ("MARKOV\n1\n200\n0", "variable 0 has 200 states; give 1 to 127"),
        ("MARKOV\n1\n0\n0", "variable 0 has 0 states"),
        ("MARKOV\n2\n2 2\n1\n3 0 1 1\n", "line 5: the number of variables of factor 0 is '3'"),
        ("MARKOV\n2\n2 2\n1\n1 2\n2 1 1", "line 5: factor 0 names variable 2"),
        ("MARKOV\n2\n2 2\n1\n2 1 1\n4 1 1 1 1", "line 5: factor 0 names variable 1 twice"),
        ("MARKOV\n1\n2\n1\n1 0\n3 1 1 1", "line 6: table 0 has 3 values, but its variables have 2 joint states"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1", "table 0 has 2 values, but only 1 words follow"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1 -0.5", "line 6: table 0 holds '-0.5'"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1 nan", "holds 'nan'"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1 1e999", "holds '1e999'"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1 1_0", "holds '1_0'"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1 2 3", "1 words are left over"),
        ("MARKOV\n1\n٢\n0\n", "is '٢'"),
        ("MARKOV\n40\n" + "9 " * 40 + "\n1\n40 " + " ".join(map(str, range(40))), "more than 67108864 entries"),
    ],
)
def test_malformed_texts_are_told_what_and_where(text, message):
    with pytest.raises(InputError) as error:
        read_uai(text)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text, values",
    [
        ("2 0 1 3 2", {0: 1, 3: 2}),
        ("1\n2 0 1 3 2", {0: 1, 3: 2}),
        ("0", {}),
        ("1 0\n", {}),
        ("c none\n0\n", {}),
        ("1 3 0", {3: 0}),
    ],
)
def test_evidence_old_and_new(text, values):
    assert read_evid(text, (2, 2, 2, 3)) == values == parse_evid(write_evid(values), (2, 2, 2, 3))


@pytest.mark.parametrize(
    "text, message",
    [
        ("\n", "ends where the number of clamped variables"),
        ("2 0 1", "2 clamped variables need 4 words, but 2 follow"),
        ("2 1 0 1 1 0 0\n1", "2 samples of evidence are announced; give one"),
        ("1 4 0", "variable 4 does not exist; the model has variables 0 to 3"),
        ("1 3 3", "the value of variable 3 is '3'; give a whole number from 0 to 2"),
        ("2 0 1 0 1", "variable 0 is clamped twice"),
        ("1 0 x", "is 'x'"),
    ],
)
def test_malformed_evidence(text, message):
    with pytest.raises(InputError) as error:
        parse_evid(text, (2, 2, 2, 3))
    assert message in str(error.value)


def test_evidence_is_read_by_path(tmp_path):
    path = tmp_path / "a.uai.evid"
    path.write_text("1 0 1")
    assert read_evid(str(path), (2,)) == {0: 1}
    with pytest.raises(InputError, match="no file"):
        read_evid(str(tmp_path / "none.evid"), (2,))


def test_results():
    assert write_pr(math.log(1000)).split() == ["PR", repr(math.log(1000) / math.log(10))]
    assert write_mar([np.array([0.25, 0.75]), np.array([0.0, 0.5, 0.5])]) == "MAR\n2 2 0.25 0.75 3 0.0 0.5 0.5\n"
    assert write_map(np.array([1, 0, 2], np.int8)) == "MAP\n3 1 0 2\n"
