"""What the Messages page opens with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from pmpviz.capabilities.messages.plan import MessagePlan
from pmpviz.live.plan import Preset

MESSAGES: tuple[Preset, ...] = (
    Preset(
        "tree",
        "Tree: two passes",
        "How many messages make a tree exact?",
        MessagePlan("tree", schedule="two_pass", sweeps=60, play="message"),
        "Each factor waits for all messages from below before it speaks. On the way to the root beliefs are still "
        "wrong; on the way back each variable becomes exact as the last message reaches it, and stays so. Two "
        "messages an edge, one each way, are all that is needed. Bethe's log Z is exact before any belief is: once the "
        "variables of one factor, here f1, have heard all that comes from elsewhere, what is sent on changes it no "
        "more. Hold a variable by clicking it, and see how far the news travels.",
    ),
    Preset(
        "chain",
        "Chain in parallel",
        "How fast does news travel?",
        MessagePlan("chain", schedule="parallel", sweeps=12, play="sweep"),
        "All messages at once: after every sweep each variable knows what is one factor further away. The beliefs "
        "are exact as soon as the two ends have heard of one another, which takes as many sweeps as the chain's "
        "diameter. With damping they only come near it, by a constant factor a sweep.",
    ),
    Preset(
        "triangle",
        "Frustrated triangle",
        "When do messages never come to rest?",
        MessagePlan("triangle", schedule="parallel", rule="max", sweeps=88, play="run"),
        "Two edges want their ends alike, the dashed one wants them to differ: not all three can have it. Undamped "
        "max-product messages travel round a loop for ever when an odd number of its couplings are negative, and these "
        "are strong against the fields: each time round a message comes back as its opposite. On a cycle of L "
        "variables all are the same again after 2 L sweeps, here 6. The diagonal stripes of the heat map are messages "
        "on their way round. Before the first message the beliefs equal the exact ones: whichever state one variable "
        "has, the others can please all edges but one, so that the loop says nothing of it. What goes round it does, "
        "and makes beliefs worse. Set the damping to 0.5.",
    ),
    Preset(
        "damped",
        "Triangle, damped",
        "What does damping do to an oscillation?",
        MessagePlan("triangle", schedule="parallel", rule="max", damping=0.5, sweeps=88, play="run"),
        "Half of each old message is kept. What went round the loop before now dies out by a constant factor a "
        "sweep: a straight line on the logarithmic scale. The fixed point that is reached was there all the time; "
        "undamped messages ran past it.",
    ),
    Preset(
        "cycle",
        "4-cycle, one odd edge",
        "Does the sum oscillate where the maximum does?",
        MessagePlan("cycle", schedule="parallel", sweeps=60, play="sweep"),
        "One edge of four wants its ends to differ. Sum-product settles: every factor passes on less than it hears, "
        "so that what goes round the loop dies out. Raise the message β towards max-product and watch it take "
        "longer; at the maximum nothing is lost, and the period is 8.",
    ),
    Preset(
        "lattice",
        "3 x 3 lattice",
        "How wrong are beliefs on a graph with loops?",
        MessagePlan("lattice", schedule="parallel", damping=0.3, sweeps=80, play="sweep"),
        "Messages count the same evidence twice: what left a variable comes back round a square as if it were news. "
        "The beliefs settle all the same, too sure of themselves, and Bethe's log Z differs from the exact one.",
    ),
    Preset(
        "potts",
        "Potts, three states",
        "What is a message about three states?",
        MessagePlan("potts", schedule="parallel", damping=0.2, sweeps=40, play="sweep"),
        "A message is now three numbers, the largest set to 0. The heat map has two rows for each: how much states "
        "1 and 2 are preferred to state 0. An edge has the colour of the state that it favours.",
    ),
    Preset(
        "or",
        "OR: explaining away",
        "What does one cause say about another?",
        MessagePlan("or_factor", schedule="two_pass", evidence=((3, 1),), sweeps=60, play="message"),
        "The bottom variable, the effect, is held at 1: something has caused it. Each cause above becomes more "
        "probable. Hold one of them at 1 as well, and the others go back to what they were: one cause *explains the "
        "effect away*, and nothing is left for the others to explain. The message of an OR factor takes time linear in "
        "its size, although its table has 2 to the number of its variables entries.",
    ),
    Preset(
        "and_or",
        "Two ANDs into an OR",
        "How does one pixel ask its features?",
        MessagePlan("and_or", schedule="parallel", sweeps=20, play="message"),
        "One pixel of a binary convolution: it is on if, of a feature's weight and a location, both are on at least "
        "once. Hold the pixel at 1, or at 0, and follow the messages up to weights and locations.",
    ),
    Preset(
        "cardinality",
        "Exactly two of four",
        "What does a count say to its members?",
        MessagePlan("cardinality", schedule="parallel", sweeps=12, play="message"),
        "A factor that allows exactly two of four variables to be on. The messages are found by sorting (maximum) "
        "or by counting from either end (sum), not over all joint states. Hold two variables at 1: the others are "
        "then 0 for certain, and their messages infinite.",
    ),
    Preset(
        "wrong_model",
        "Four variables, all joined",
        "Where does Bethe's approximation fail?",
        MessagePlan("wrong_model", schedule="parallel", damping=0.2, sweeps=140, play="run"),
        "Three thresholds of θ that are easily mixed up. **.316**: beyond it no model can be *learned* by moment "
        "matching with Bethe beliefs, since the exact correlation exceeds 1/2, the most that stable belief "
        "propagation can have. **.549** = artanh 1/2: only beyond it does belief propagation itself become unstable "
        "at the symmetric fixed point. And Bethe's log Z is off at **every** θ but 0: compare the two lines.",
    ),
)


__all__ = ["MESSAGES"]
