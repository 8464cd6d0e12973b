"""What the Text page opens with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from pmpviz.capabilities.text.plan import BAKER, TextPlan, reader
from pmpviz.live.plan import Preset
from pmpviz.models.text import LINKS

GIBBS, CHAIN = reader("gibbs"), reader("gaussian_chain")
TEXT: tuple[Preset, ...] = (
    Preset(
        "names",
        "Who is the speaker?",
        "Which of these words are the speaker's name?",
        TextPlan(number=1068, skip=0.0, lanes=(GIBBS,)),
        "Underlined words are the true name. A name that no list knows is told by what stands beside it in one place, "
        "and links carry that to the places where nothing tells: drag *Links* to 1 and watch those light up. Click a "
        "word to say what it is.",
        5.0,
    ),
    Preset(
        "room",
        "A room called like a person",
        "Can links find every Quillfeather, and no Baker?",
        TextPlan(text=BAKER, links=LINKS[1], lanes=(GIBBS,)),
        "Quillfeather is in no list of names. It stands once after *Speaker*; links carry that on, weaker from one to "
        "the next: at *Links* × 1 two are missed, at × 1.3 none; at × 1.5 Baker is taken too. Baker is in the list, "
        "and names a hall and the host. Click one Baker until it is held as a name, and watch the others gain.",
        5.0,
        lead="Quillfeather speaks; Baker is a hall and the host. Equal words pull on each other, the more the larger "
        "Links; amber: likely the speaker's name.",
    ),
    Preset(
        "together",
        "One by one, or all at once",
        "What does it help to draw all the words at once?",
        TextPlan(number=1017, lanes=(GIBBS, CHAIN)),
        "Gibbs sampling changes a word at a time: a name of two words comes and goes slowly. With one Gaussian for "
        "each repeated word the text is a chain, and all labels are drawn at once. Choose *One sample* and go on step "
        "by step: whole names turn up together. It helps in the first sweeps; later curves cross by chance.",
        5.0,
    ),
    Preset(
        "continuous",
        "Three ways of the papers",
        "Does Hamiltonian Monte Carlo read better than Gibbs?",
        TextPlan(number=1017, lanes=(GIBBS, reader("gaussian_gibbs"), reader("gaussian_hmc"))),
        "Zhang and others report that Hamiltonian Monte Carlo has the least error here (their Table 1). Against Gibbs "
        "sampling that sweeps over all words the opposite is found: compare the curves, by sweeps and by seconds "
        "(reproduce skip-chain). *New seed* begins another run of all three.",
        20.0,
    ),
    Preset(
        "solvers",
        "Without samples",
        "Can one do without samples?",
        TextPlan(number=1068, lanes=(reader("bp"), reader("barrier_frank_wolfe"))),
        "Belief propagation, by which the paper trains, settles within a few sweeps and is nearly exact on a chain "
        "with few links. Frank-Wolfe bounds log Z, and each of its steps is the most likely labelling of another text.",
        2.0,
    ),
    Preset(
        "digest",
        "Many links",
        "When does the exact answer become too dear?",
        TextPlan(number=1243, links=LINKS[0], lanes=(CHAIN,)),
        "A word that stands k times has k (k − 1) / 2 links under *all pairs*, the paper's choice, and the width of "
        "the exact answer grows with it: here it is refused. Link *consecutive* ones alone, and it is there. The "
        "Gaussians do not mind: one serves all the links of a word.",
        5.0,
    ),
)


__all__ = ["TEXT"]
