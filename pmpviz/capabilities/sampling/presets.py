"""What the pages open with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from pmpviz.capabilities.sampling.layers import UNMET
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.live.plan import Choice, Preset
from pmpviz.models.presets import PRESETS as MODELS


def _lanes(*names: str) -> tuple[Choice, ...]:
    return tuple(sampler(name) for name in names)


HOME = Preset(
    "home",
    "Two samplers at the critical temperature",
    "Two samplers of one magnet: which leaves its random start first?",
    Plan(model="square:64x64", chains=64, lanes=_lanes("colour_gibbs", "swendsen_wang")),
    "Gibbs flips one site at a time; Swendsen-Wang flips whole clusters.",
    20.0,
)

RACE: tuple[Preset, ...] = (
    Preset(
        "critical",
        "Critical lattice",
        "Which sampler comes right first at the critical temperature?",
        Plan(model="square:64x64", chains=512, budget=256.0, lanes=_lanes("colour_gibbs", "swendsen_wang")),
        "Local samplers need a number of sweeps that grows with the square of the side. Swendsen-Wang moves whole "
        "clusters and hardly slows down; one of its sweeps costs more, so look at the seconds too.",
        0.0,
    ),
    Preset(
        "paper-lattice",
        "Paper's lattice, θ = −0.1",
        "How many sweeps does each method need on the paper's lattice?",
        Plan(
            model="square:25x25,J=-0.2",
            chains=512,
            budget=64.0,
            lanes=_lanes("pmp", "gibbs", "gwg", "colour_gibbs"),
        ),
        "Perturb-and-max-product makes every draw from scratch, in 64 sweeps; it is measured once a draw is done, "
        "and more draws do not bring it below its own bias. The MCMC samplers start at random and go on to the noise.",
        0.0,
    ),
    Preset(
        "paper-graph",
        "Paper's random graph",
        "Which sampler finds its way on a sparse spin glass?",
        Plan(model="erdos_renyi:200", chains=512, budget=512.0, lanes=_lanes("pmp", "gibbs", "gwg", "colour_gibbs")),
        "Couplings of both signs with a weak field. No exact answer is tractable here (elimination width 41), so the "
        "reference is a labelled long run.",
        0.0,
    ),
    Preset(
        "stripes",
        "Striped states",
        "Which sampler leaves the stripes first?",
        Plan(
            model="square:64x64",
            beta=1.3,
            chains=128,
            start="stripes",
            budget=512.0,
            lanes=_lanes("colour_gibbs", "gwg", "swendsen_wang"),
        ),
        "Two straight walls cost energy only along their length, and no single flip lowers it: local samplers keep "
        "the stripes, clusters dissolve them at once.",
        60.0,
    ),
    Preset(
        "glass",
        "±J glass",
        "Who comes down first into the valleys of a spin glass?",
        Plan(
            model="square:16x16,couplings=glass,J=1",
            beta=1.0,
            chains=256,
            budget=256.0,
            lanes=_lanes("pmp", "colour_gibbs", "gwg", "swendsen_wang"),
        ),
        "Red lines are couplings that are not met: half of them at sweep 0, 18 in 100 at this temperature. None can be "
        "rid of all: around many a square of four couplings one stays red, whatever the spins do. Swendsen-Wang is "
        "exactly invariant here too, but frustration makes its clusters span the lattice, and they stop helping. Raise "
        "the temperature to 1.67, and all three chains are there within some 32 sweeps; what is hard are the valleys, "
        "not the disorder. Perturb-and-max-product is off at both: too high here, too low there.",
        0.0,
        UNMET.name,
    ),
    Preset(
        "strong-chain",
        "Strongly coupled chain",
        "Which sampler comes nearest to the law of a strongly coupled chain?",
        Plan(model="chain:64,J=3,field=first,h=1", chains=512, budget=128.0, lanes=_lanes("pmp", "gibbs", "gwg")),
        "The field at the left end is to be heard at the right one: the mean spin falls from 0.76 there to 0.56 here. "
        "MMD² sees mostly means, and here means are the news. Walls between up and down have to meet by a random walk "
        "under Gibbs; GWG proposes where a flip is likely, at the walls. Perturb-and-max-product carries messages "
        "from end to end within one draw (section 3 of the paper), yet noise at all 64 sites outweighs the one field: "
        "what it draws stays off.",
        0.0,
    ),
    Preset(
        "clique",
        "Ten-node clique, θ = 1",
        "Which samplers come right on a small dense model?",
        Plan(model="clique:10,theta=1,seed=2", chains=2048, budget=128.0, lanes=_lanes("pmp", "gibbs", "gwg", "exact")),
        "Everything is exact here, so the errors can be read off: Gibbs and GWG reach the noise within some sixty "
        "sweeps, perturb-and-max-product stops at its bias, however long it runs. Set θ to 2: Gibbs then needs "
        "thousands of sweeps, and until then the biased sampler is the nearer one.",
        20.0,
    ),
    Preset(
        "gaussians",
        "Gaussians on a grid",
        "Do Gaussians between the variables pay on a lattice?",
        Plan(
            model="square:10x10,periodic=false,couplings=gaussian,sigma=0.75,field=random,h=1",
            chains=256,
            budget=256.0,
            lanes=_lanes("gibbs", "gaussian_gibbs", "gaussian_hmc"),
        ),
        "A grid like those of Zhang, Sutton, Storkey and Ghahramani, Figure 2. The Gaussians let all variables be "
        "drawn at once, but hold each of them back: site after site is ahead at the same sweeps, and further at the "
        "same seconds. The paper ranks them the other way round; see reproduce dhmc-2 for the reading that does.",
        0.0,
    ),
    Preset(
        "bars",
        "RBM of bars",
        "Which sampler draws the right bars first?",
        Plan(model="rbm:8x8x16", chains=256, budget=64.0, lanes=_lanes("pmp", "gibbs", "gwg")),
        "On average two of the sixteen hidden units are on. Gibbs draws a whole layer at once and starts with too "
        "many: it needs some fifty sweeps to lose them, because a unit goes off only after most of its pixels have. "
        "GWG needs fewer sweeps, each of which costs far more: look at the seconds. Perturb-and-max-product settles "
        "within sixteen sweeps, on three or four bars instead of two: a bias that more sweeps don't remove.",
        0.0,
    ),
)

# Relaxations: how they are laid out and how far they are shifted.
_MACHINE = "srbm:8x8x16,pattern=random,strength=1,lateral=0.8"
RACE += (
    Preset(
        "gaussian-coordinates",
        "Frustrated grid, two masses",
        "One ball rolls in two sets of coordinates: in which does it come nearer to the law?",
        Plan(
            model="square:10x10,periodic=false,couplings=gaussian,sigma=1,field=random,h=0.9",
            chains=256,
            budget=256.0,
            lanes=(
                sampler("gibbs"),
                sampler("gaussian_gibbs", map="eigen"),
                sampler("gaussian_hmc", map="eigen", coordinates="A = I"),
                sampler("gaussian_hmc", map="eigen"),
            ),
        ),
        "Strong couplings of both signs and fields of chance, as in reproduce dhmc-3 under its law without a pull: the "
        "frustrated grids as Zhang and others print them pull at each site with what its neighbours do and are easier. "
        "Under A = I the ball's steps are as short as the least eigenvalue asks; whitened it goes further at the same "
        "sweeps, and ahead of both is Gibbs, site after site.",
        0.0,
    ),
    Preset(
        "semi-restricted",
        "A semi-restricted machine",
        "Must the pixels of a semi-restricted machine be drawn one after the other?",
        Plan(model=_MACHINE, chains=256, budget=256.0, lanes=_lanes("gibbs", "gaussian_gibbs")),
        "Its pixels interact with each other as well as with the hidden units. With Gaussians between them all pixels "
        "are drawn at once: a sweep forgets less than one of sequential Gibbs, and where many chains keep a processor "
        "busy anyway it takes about twice as long; the paper's gain is that of a graphics card. reproduce ms-ess "
        "counts the effective draws of machines that have learned digits: about twice as many by the sequential "
        "sampler.",
        0.0,
    ),
    Preset(
        "shift",
        "More shift than needed",
        "What does a larger shift cost?",
        Plan(
            model=_MACHINE,
            chains=256,
            budget=256.0,
            lanes=tuple(sampler("gaussian_gibbs", eps=eps) for eps in (0.01, 1.0, 4.0)),
        ),
        "The law of the pixels is the same for every shift, but more of it parts the Gaussians, and each pixel is held "
        "where it was: at five times the least shift neighbouring sweeps are nearly alike. reproduce ms-epsilon has "
        "the curve of a learned machine.",
        0.0,
    ),
    Preset(
        "covariances",
        "Covariances of a machine",
        "How soon are pixels and hidden units seen to go together?",
        Plan(
            model="srbm:8x8x16,pattern=random,strength=1,lateral=1.6",
            chains=1024,
            budget=128.0,
            lanes=_lanes("gibbs", "gaussian_gibbs"),
        ),
        "A machine learns from how its pixels and hidden units go together, E[hx′] − E[h] E[x]′: a sampler is worth "
        "what it knows of pairs. Here pixels pull at each other strongly, and the Gaussians hold each one back: "
        "sequential Gibbs is within the noise after some sixteen sweeps, blocks after some sixty. Open *2 more "
        "traces* for the share of the pairs, and see the pair error and τ in the table. reproduce ms-hx has the error "
        "of this covariance on machines that have learned digits, where the two are nearer to each other.",
        0.0,
    ),
    Preset(
        "machine-clusters",
        "Clusters in a machine",
        "Do clusters help where hidden units pull at the pixels?",
        Plan(model=_MACHINE, chains=256, budget=256.0, lanes=_lanes("gibbs", "gaussian_gibbs", "swendsen_wang")),
        "Weights of both signs join nearly all units to one cluster, which turns as a whole or not at all, and what is "
        "left over is turned bit by bit: Swendsen-Wang's MMD² hardly falls while the two others need a dozen sweeps. "
        "On a lattice without fields it is the other way round (*Critical lattice*). reproduce ms-sw shows it on a "
        "machine that has learned digits, its hidden units drawn first: no digits after a hundred steps.",
        0.0,
    ),
)

# Models of more than two states, at the critical coupling log(1 + sqrt q).
RACE += (
    Preset(
        "potts-3",
        "Potts, three states",
        "Do clusters help where there are three colours?",
        Plan(model="potts:64x64", chains=64, budget=256.0, lanes=_lanes("swendsen_wang", "colour_gibbs")),
        "At the critical coupling islands of every size stand side by side. Swendsen-Wang recolours whole clusters: "
        "one picture hardly resembles the next; Gibbs only moves their borders. reproduce potts compares the energies "
        "with exact ones, also of ten states.",
        0.0,
    ),
    Preset(
        "potts-10",
        "Potts, ten states",
        "Order and disorder with a gap between: does even the reference come to rest?",
        Plan(model="potts:64x64,q=10", chains=64, budget=256.0, lanes=_lanes("swendsen_wang", "colour_gibbs")),
        "With more than four states the transition is of first order: a picture is nearly of one colour or of all ten "
        "in small patches, hardly ever between. Neither sampler crosses the gap soon: from a random start both stay in "
        "the disorder, from one colour (start: zeros) in the order. The reference is a run from random starts as well.",
        0.0,
    ),
)

BARS = Preset(
    "bars",
    "RBM of bars",
    "Bars that hold themselves up: how soon does block Gibbs have their energy right?",
    Plan(model="rbm:8x8x16", chains=64, lanes=_lanes("colour_gibbs")),
    "The visible pixels are drawn given the hidden units, then the hidden units given the pixels. A unit and its bar "
    "hold each other up: once the first sweeps have forgotten the start, about four of ten bars still stand after 64 "
    "sweeps. Most pictures show one to three bars, often a row that crosses a column. Clamp four pixels of a row to "
    "1, and the rest of it follows.",
    20.0,
)


# Of the models of `models.presets`, beside what their lessons say.
QUESTIONS = {
    "critical": "Clusters of every size: after how many sweeps is a local sampler's energy right?",
    "hot": "How few sweeps are enough where sites hardly agree?",
    "cold": "In the cold, does a single-site sampler come down to the right energy?",
    "paper_lattice": "Neighbours prefer to differ on an odd torus: have draws by max-product the right energy?",
    "paper_graph": "What can be said of draws where no exact answer is within reach?",
    "paper_four": "Four spins, sixteen states: does each come as often as it should?",
    "glass": "Many valleys of nearly equal energy: do independent draws lie deep enough?",
    "villain": "At least a quarter of couplings stay unmet: have draws by max-product the right energy?",
    "strong_chain": "The ends of a chain hear of each other by its links: have its draws the right energy?",
    "triangular": "Three spins cannot all differ: have draws by max-product the right energy?",
    "honeycomb": "With three neighbours instead of four: have draws by max-product the right energy?",
    "cubic": "Three dimensions at their critical point: how near are draws by max-product?",
    "sk": "Every pair pulls with a random sign: do independent draws lie deep enough?",
    "regular": "Locally a tree, globally long loops: how far are draws by max-product off?",
    "tree": "Max-product is exact without loops: are its samples, too?",
    "clique": "Ten strongly coupled spins: how far are draws by max-product off?",
}

# What the Playground's algorithm does on a model, beside the model's lesson.
MORE = {
    "paper_four": "The model treats 0 and 1 alike; max-product does not: with states 0 and 1 the unary terms pull "
    "every spin to 0 until messages, which start at 0, outweigh them. On loops something of that stays: it ends at "
    "0000 twice as often as at 1111.",
}


def _playground(preset) -> Preset:
    if preset.id == BARS.id:
        return BARS
    algorithm = "colour_gibbs" if preset.id in ("critical", "hot", "cold") else "pmp"
    plan = Plan(model=preset.spec, beta=preset.beta, chains=64, lanes=(sampler(algorithm),))
    notice = f"{preset.lesson} {MORE.get(preset.id, '')}".strip()
    # Where it takes hundreds of sweeps until the energy is right these are to be seen in a minute.
    speed = 240.0 if preset.id == "critical" else 20.0
    layer = UNMET.name if preset.id in ("glass", "villain") else ""
    return Preset(preset.id, preset.label, QUESTIONS[preset.id], plan, notice, speed, layer)


_STATES = (
    Preset(
        "potts",
        "Three-state Potts lattice",
        "Three colours at their critical point: after how many sweeps is their energy right?",
        Plan(model="potts:64x64", chains=64, lanes=_lanes("colour_gibbs")),
        "Patches of every size, each of which a local sampler moves at its edge only. Clamp a patch to a colour: at "
        "the critical coupling it draws its neighbourhood along, far and wide.",
        20.0,
    ),
    Preset(
        "clock",
        "Six-state clock lattice",
        "Colours turn step by step and whirl around points: does their energy come to rest?",
        Plan(model="clock:64x64,J=1.2", chains=64, lanes=_lanes("colour_gibbs")),
        "Neighbours differ by one step at most, so colours pass into one another; where all six meet in a point there "
        "is a vortex, which goes away only together with one that turns the other way.",
        20.0,
    ),
)
GAUSSIAN_FIELD = Preset(
    "gaussian-field",
    "Lattice and Gaussian field",
    "All spins at once, given Gaussians: after how many sweeps is their energy right?",
    Plan(model="square:64x64", chains=64, lanes=_lanes("gaussian_gibbs")),
    "The colour of a site is the pull of the Gaussians on its couplings, its spin is the dot in the middle: drawn from "
    "this field alone, all sites at once. Where the field is pale, inside the walls between up and down, spins turn; "
    "deep in a patch they hardly do, since the Gaussians were drawn around the spins before them.",
    10.0,
    "Gaussian field",
)
PLAYGROUND: tuple[Preset, ...] = (*(_playground(preset) for preset in MODELS), *_STATES, GAUSSIAN_FIELD)
