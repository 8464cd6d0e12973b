"""Small models of more than two states, as files and as models: a frustrated one of three, and a mixed one."""

from __future__ import annotations

# Three variables of three states that want to differ from one another, and cannot all have what they want.
FRUSTRATED = """MARKOV
4
3 3 3 3
6
1 0
2 0 1
2 1 2
2 0 2
2 2 3
1 3
3
1 2 3
9
1 3 2 3 1 3 2 3 1
9
1 3 2 3 1 3 2 3 1
9
1 3 2 3 1 3 2 3 1
9
4 1 1 1 2 1 1 1 5
3
1 1 2
"""
MIXED = """MARKOV
5
2 3 4 2 1
6
2 0 1
2 1 2
2 2 3
2 3 0
1 2
1 4
6
1 2 3 1 1 2
12
1 2 1 3 1 1 1 1 4 2 1 1
8
1 2 1 3 1 1 1 5
4
1 4 3 1
4
1 1 2 1
1
2
"""
# One state more than pages show apart.
SEVENTEEN = "MARKOV\n2\n17 2\n1\n2 0 1\n34\n" + " ".join(str(1 + k % 5) for k in range(34)) + "\n"
# Sixteen states: as many as pages show.
SIXTEEN = "MARKOV\n3\n16 16 2\n2\n2 0 1\n2 1 2\n256\n" + " ".join(str(1 + k % 7) for k in range(256))
SIXTEEN += "\n32\n" + " ".join(str(1 + k % 3) for k in range(32)) + "\n"

FILES = {"three": FRUSTRATED, "mixed": MIXED, "sixteen": SIXTEEN}
