"""UAI files: models (MARKOV and BAYES), evidence, and the result formats PR, MAR and MAP.

    model    := ("MARKOV" | "BAYES") N card^N F scope^F table^F,  scope := k v_1 ... v_k,  table := size value^size
    evidence := n (variable value)^n, preceded by the number of samples in older files

White space separates, lines that start with `c` are comments, variables count from 0, values are linear and the last
variable of a scope varies fastest.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pmpviz.io.files import read_text
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.ising import Ising
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.tables import MAX_ENTRIES, Factor, TableModel, check_card, check_scope, from_ising
from pmpviz.types import InputError

MAX_TEXT = 1 << 28
# Logarithms within this range are written as they are; others are shifted by a constant factor first.
PLAIN_LOG, WIDEST_LOG = 600.0, 700.0


class _Words:
    """The words of a text without its comments, read one after the other; knows the line for messages."""

    def __init__(self, text: str, name: str):
        self.name, self.at = name, 0
        self.words: list[str] = []
        self.first: list[int] = []
        self.lines: list[int] = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.startswith("c") and (words := line.split()):
                self.first.append(len(self.words))
                self.lines.append(number)
                self.words += words

    @property
    def left(self) -> int:
        return len(self.words) - self.at

    def fail(self, problem: str) -> InputError:
        """An error at the word last read."""
        where = bisect_right(self.first, max(self.at - 1, 0)) - 1
        line = self.lines[where] if self.lines else 1
        return InputError(f"{self.name}, line {line}: {problem}")

    def word(self, what: str) -> str:
        if not self.left:
            raise self.fail(f"the text ends where {what} should follow")
        self.at += 1
        return self.words[self.at - 1]

    def count(self, what: str, most: int) -> int:
        word = self.word(what)
        if not (word.isascii() and word.isdecimal() and len(word) <= 12 and int(word) <= most):
            raise self.fail(f"{what} is {word[:40]!r}; give a whole number from 0 to {most}")
        return int(word)

    def size(self, what: str) -> int:
        """How many things follow, of at least a word each."""
        count = self.count(f"the number of {what}", 1 << 31)
        if count > self.left:
            raise self.fail(f"{count} {what} are announced, but only {self.left} words follow")
        return count

    def values(self, count: int, what: str) -> np.ndarray:
        if count > self.left:
            raise self.fail(f"{what} has {count} values, but only {self.left} words follow")
        found = np.empty(count)
        for k in range(count):
            found[k] = self._value(what)
        return found

    def _value(self, what: str) -> float:
        word = self.word(what)
        try:
            value = float(word) if word.isascii() and "_" not in word else math.nan
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value >= 0):
            raise self.fail(f"{what} holds {word[:40]!r}; give finite numbers from 0 on")
        return value

    def end(self, what: str) -> None:
        if self.left:
            raise self.fail(f"{self.left} words are left over after {what}; remove them or mend the counts")


def read_uai(source: str | Path) -> TableModel:
    """The model of a file, or of a text (several lines, or one that starts with MARKOV or BAYES).

    Raises InputError with the line and what is wrong there; sizes are checked before anything is allocated.
    """
    text, name = _text_of(source, lambda text: "\n" in text or text.lstrip().startswith(("MARKOV", "BAYES")))
    return parse_uai(text, name)


def parse_uai(text: str, name: str = "the UAI text") -> TableModel:
    """The model that a UAI text describes; raises InputError as `read_uai`."""
    words = _Words(text, name)
    kind = words.word("MARKOV or BAYES")
    if kind not in ("MARKOV", "BAYES"):
        raise words.fail(f"the text begins with {kind[:40]!r}; a UAI model begins with MARKOV or BAYES")
    card = _card(words)
    scopes = _scopes(words, card)
    factors = [_factor(words, card, place, scope) for place, scope in enumerate(scopes)]
    words.end("the last table")
    return TableModel.of(card, factors)


def _card(words: _Words) -> list[int]:
    n = words.size("variables")
    card = [words.count(f"the number of states of variable {v}", 1 << 31) for v in range(n)]
    try:
        check_card(card)
    except InputError as error:
        raise words.fail(str(error)) from None
    return card


def _scopes(words: _Words, card: list[int]) -> list[tuple[int, ...]]:
    count = words.size("factors")
    scopes, entries = [], 0
    for place in range(count):
        size = words.count(f"the number of variables of factor {place}", len(card))
        scope = tuple(words.count(f"a variable of factor {place}", 1 << 31) for _ in range(size))
        try:
            check_scope(card, place, scope)
        except InputError as error:
            raise words.fail(str(error)) from None
        entries += math.prod(card[v] for v in scope)
        if entries > MAX_ENTRIES:
            raise words.fail(
                f"the tables up to factor {place} have more than {MAX_ENTRIES} entries; give a smaller model"
            )
        scopes.append(scope)
    return scopes


def _factor(words: _Words, card: list[int], place: int, scope: tuple[int, ...]) -> Factor:
    shape = tuple(card[v] for v in scope)
    size = words.count(f"the size of table {place}", MAX_ENTRIES)
    if size != math.prod(shape):
        raise words.fail(f"table {place} has {size} values, but its variables have {math.prod(shape)} joint states")
    values = words.values(size, f"table {place}").reshape(shape)
    with np.errstate(divide="ignore"):
        return scope, np.log(values)


def write_uai(model: TableModel | Ising | Pairwise | FactorGraph) -> str:
    """The UAI text of a model. Values are linear, so that a loaded copy agrees to rounding, not bit for bit.

    Constants become factors without variables, logical factors tables. Raises InputError for a table that spans more
    than e^700, and Refusal for logical factors whose tables are too large (see `FactorGraph.to_tables`).
    """
    tables = from_ising(model) if isinstance(model, Ising) else model
    tables = tables.to_tables() if isinstance(tables, (FactorGraph, Pairwise)) else tables
    constant, factors = float(tables.constant), []
    for place, (scope, table) in enumerate(tables.factors):
        shift = _shift(place, table)
        constant += shift
        factors.append((scope, table - shift))
    factors = [*factors, *(((), np.array(part)) for part in _constant_parts(constant))]
    head = ["MARKOV", str(tables.n), " ".join(map(str, tables.card)), str(len(factors))]
    scopes = [" ".join(map(str, (len(scope), *scope))) for scope, _ in factors]
    rows = [f"{table.size}\n{' '.join(map(repr, np.exp(table).reshape(-1).tolist()))}" for _, table in factors]
    return "\n".join([*head, *scopes, *rows, ""])


def _shift(place: int, table: np.ndarray) -> float:
    finite = table[np.isfinite(table)]
    if not finite.size or (finite.max() <= PLAIN_LOG and finite.min() >= -PLAIN_LOG):
        return 0.0
    if finite.max() - finite.min() > WIDEST_LOG:
        raise InputError(f"factor {place} spans more than e^{WIDEST_LOG:g}, too much for UAI; save as .npz or .json")
    return float(finite.max())


def _constant_parts(constant: float) -> list[float]:
    if constant == 0 or math.isinf(constant):
        return [constant] if constant else []
    parts = math.ceil(abs(constant) / PLAIN_LOG)
    if parts > MAX_ENTRIES >> 6:
        raise InputError(f"the constant {constant:.3g} is too large for UAI; save as .npz or .json")
    return [constant / parts] * parts


def read_evid(source: str | Path, card: Sequence[int]) -> dict[int, int]:
    """{variable: state} of an evidence file, or of a text (digits, white space and comments).

    `card` are the model's cardinalities. Raises InputError with the line and what is wrong there.
    """
    text, name = _text_of(source, lambda text: "\n" in text or text.strip()[:1].isdigit())
    return parse_evid(text, card, name)


def parse_evid(text: str, card: Sequence[int], name: str = "the evidence") -> dict[int, int]:
    """{variable: state} of an evidence text; raises InputError as `read_evid`."""
    words = _Words(text, name)
    count = words.count("the number of clamped variables", 1 << 31)
    # n (variable value)^n has an odd number of words; with the number of samples in front it is even.
    if len(words.words) % 2 == 0:
        if count != 1:
            raise words.fail(f"{count} samples of evidence are announced; give one")
        count = words.count("the number of clamped variables", 1 << 31)
    if words.left != 2 * count:
        raise words.fail(f"{count} clamped variables need {2 * count} words, but {words.left} follow")
    found: dict[int, int] = {}
    for _ in range(count):
        v = words.count("a clamped variable", 1 << 31)
        if v >= len(card):
            raise words.fail(f"variable {v} does not exist; the model has variables 0 to {len(card) - 1}")
        if v in found:
            raise words.fail(f"variable {v} is clamped twice; clamp it once")
        found[v] = words.count(f"the value of variable {v}", card[v] - 1)
    return found


def write_evid(values: dict[int, int]) -> str:
    """The evidence text of {variable: state}."""
    return " ".join(map(str, [len(values), *(word for pair in sorted(values.items()) for word in pair)])) + "\n"


def write_pr(log_z: float) -> str:
    """The result text of log Z: PR and its logarithm to base 10."""
    return f"PR\n{log_z / math.log(10)!r}\n"


def write_mar(marginals: Sequence[np.ndarray]) -> str:
    """The result text of all marginals: MAR N (card p_0 ... p_{card-1})^N."""
    rows = [" ".join([str(len(row)), *(repr(float(p)) for p in row)]) for row in marginals]
    return f"MAR\n{' '.join([str(len(rows)), *rows])}\n"


def write_map(x: Sequence[int]) -> str:
    """The result text of a configuration: MAP N x_0 ... x_{N-1}."""
    return f"MAP\n{' '.join(map(str, [len(x), *(int(v) for v in x)]))}\n"


def _text_of(source: str | Path, is_text) -> tuple[str, str]:
    if isinstance(source, str) and is_text(source):
        return source, "the text"
    return read_text(Path(source), MAX_TEXT), Path(source).name
