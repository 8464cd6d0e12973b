"""The words that announcements are made of: names, some of which no list knows, titles, places and marks."""

FIRST_NAMES = tuple(
    "Ada Alan Alice Amir Anna Boris Carla Chen Clara Daniel Elena Emma Felix Fatima George Grace Hana Hugo Ines Ivan "
    "Jane John Julia Karl Kofi Laura Leon Lin Maria Martin Mei Miguel Nadia Nina Omar Oscar Paula Peter Priya Rosa "
    "Ruth Samuel Sara Sven Thomas Vera Victor Yuki".split()
)
SURNAMES = tuple(
    "Adams Baker Bauer Bell Carter Chang Cole Costa Curie Diaz Evans Fischer Garcia Hall Hill Ito Jensen Khan Klein "
    "Kumar Lake Lang Lopez Martin Meyer Moore Novak Okafor Park Patel Porter Rossi Russo Sato Silva Stein Tanaka "
    "Turner Wang Weber Wells Young".split()
)
# What no list of names has: such a name is told by where it stands, and by where else it stands.
UNLISTED_FIRST = tuple("Tarquin Isolde Ottoline Zephyr Wendeline Thaddeus Marisol Bramwell Xiomara Leopold".split())
UNLISTED = tuple(
    "Abernathy Quillfeather Brookstone Marchbanks Overfield Stonebridge Winterbourne Ashdown Rainwater Goldsmith "
    "Ravenscroft Fairweather Nightingale Underhill Whitlock Castellan Drummond Holloway Lockhart Merriweather".split()
)
TITLES = frozenset({"dr.", "prof.", "professor", "mr.", "ms.", "mrs.", "dr"})
SPEAKER_WORDS = frozenset({"speaker", "who", "by", "introducing"})
ACTS = frozenset("talks speaks presents shows argues asks explains works joined holds studied talk speak".split())
HOST_WORDS = frozenset({"host", "contact", "organiser", "hosted", "write"})
ROOMS = ("Hall", "Auditorium", "Building", "Room", "Library", "Theatre")
PLACE_WORDS = frozenset(
    word.lower()
    for word in (
        *ROOMS,
        "Street",
        "College",
        "School",
        "Institute",
        "University",
        "Prize",
        "Lecture",
        "Foundation",
        "Bridge",
    )
)
TOPICS = tuple(
    "Sampling|Belief Propagation|Protein Folding|Machine Translation|Random Graphs|Robot Motion|Phase Transitions|"
    "Graph Colouring|Neural Coding|Climate Models|Error Correction|Speech Recognition|Market Design|Quantum Memory|"
    "Learning to Rank|Boltzmann Machines".split("|")
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
MONTHS = ("January", "February", "March", "April", "May", "October", "November")
SCHOOLS = tuple(
    "the University of Lakewood|Northfield College|the Institute of Computation|Harbour University|"
    "the Weber Institute|Porter College|the Adams School of Science".split("|")
)
SENTENCES = tuple(
    "The talk is open to everybody .|No knowledge of physics is assumed .|Coffee is served before the talk .|"
    "Old questions turn out to have short answers .|We close with open problems , some of them easy to state .|"
    "This is joint work with many others .|Most of the methods scale to a million variables .|"
    "The second half is a demonstration that anybody can try .|Students are invited to lunch afterwards .|"
    "Questions of this kind arise in vision , in language and in biology .|"
    "What is easy on a tree is hard on a graph with loops .|The seats are few , so please come early .".split("|")
)
