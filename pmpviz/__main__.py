"""The command line: `python -m pmpviz COMMAND`; flags come from the registries."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from pmpviz import plugins
from pmpviz.types import InputError, Param

LONGEST_LINE = 300
LISTED = ("models", "algorithms", "solvers", "oracles", "datasets", "learners", "reproductions")


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, or 2 with one sentence on standard error for bad input."""
    try:
        argv = plugins.take(sys.argv[1:] if argv is None else argv)
        # The command `contract` says itself what is left out.
        for sentence in _left_out() if argv[:1] != ["contract"] else ():
            _tell(sentence, 0)
        args = _parser().parse_args(argv)
        # What overflows is refused with a sentence of its own; a warning would stand beside it.
        with np.errstate(over="ignore", invalid="ignore"):
            args.run(args)
        sys.stdout.flush()
        return 0
    except InputError as error:
        return _tell(str(error), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _tell(f"{error.filename or 'the output'} cannot be read or written ({error.strerror or error})", 2)
    except KeyboardInterrupt:
        return _tell("stopped", 130)
    except Exception as error:
        if not isinstance(error, MemoryError) and "RESOURCE_EXHAUSTED" not in str(error):
            raise
        return _tell("this does not fit into memory; give fewer chains or a smaller model", 2)


def _left_out() -> tuple[str, ...]:
    """One sentence for everything that people have brought and that cannot be used."""
    if not plugins.asked():
        return ()
    from pmpviz.experiments.registries import troubles

    return troubles()


def _tell(sentence: str, code: int) -> int:
    """One line on standard error, whatever the sentence quotes."""
    words = " ".join(f"pmpviz: {sentence}".split())
    line = "".join(letter if letter.isprintable() else "?" for letter in words)
    print(line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 3]}...", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options):
        # A shortened flag would change its meaning with the next knob that is registered.
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str):
        raise InputError(f"{message[:200]} (see `{self.prog} --help`)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m pmpviz",
        description="Sample discrete energy-based models and solve them exactly.",
        epilog="With any command: --plugin FILE.py brings algorithms of your own (again for more; or PMPVIZ_PLUGINS).",
    )
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    _add_list(commands)
    _add_exact(commands)
    _add_infer(commands)
    _add_map(commands)
    _add_sample(commands)
    _add_train(commands)
    _add_deconvolve(commands)
    _add_reproduce(commands)
    _add_bench(commands)
    _add_contract(commands)
    return parser


def _add_list(commands) -> None:
    parser = commands.add_parser("list", help="what can be built and run")
    parser.add_argument("what", nargs="?", choices=LISTED)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.set_defaults(run=_list)


def _add_exact(commands) -> None:
    parser = commands.add_parser("exact", help="log Z and marginals where they are tractable")
    _add_model(parser)
    parser.set_defaults(run=_exact)


def _add_infer(commands) -> None:
    from pmpviz.marginals import SOLVERS

    parser = commands.add_parser("infer", help="marginals and bounds on log Z")
    _add_model(parser)
    names = ", ".join(cls.spec.id for cls in SOLVERS)
    parser.add_argument("--algorithm", default=SOLVERS[0].spec.id, help=f"{names}; {SOLVERS[0].spec.id} unless given")
    parser.add_argument("--out", help="file for the marginals (.MAR) or for log Z (.PR, logarithm to base 10)")
    parser.add_argument("--seconds", help="limit of the whole run, as Ctrl-C: the best by then is given and written")
    _add_knobs(parser, SOLVERS, _infer, {"seconds": "seconds-per-call"})


def _add_map(commands) -> None:
    from pmpviz.oracles import ORACLES

    parser = commands.add_parser("map", help="the most probable configuration, by any of the MAP oracles")
    _add_model(parser)
    names = ", ".join(cls.spec.id for cls in ORACLES)
    parser.add_argument("--oracle", default=ORACLES[0].spec.id, help=f"{names}; {ORACLES[0].spec.id} unless given")
    parser.add_argument("--out", help="file for the configuration (.MAP)")
    _add_knobs(parser, ORACLES, _map)


def _add_sample(commands) -> None:
    from pmpviz.live.plan import SEED
    from pmpviz.runs.plan import STARTS
    from pmpviz.samplers import SAMPLERS

    parser = commands.add_parser("sample", help="run a sampler and write samples.npz")
    _add_model(parser)
    parser.add_argument("--algorithm", default=SAMPLERS[0].spec.id, help=", ".join(SAMPLERS.ids))
    parser.add_argument("--sweeps", default="64", help="full sweeps of all variables (or of all messages)")
    parser.add_argument("--chains", default="1000", help="independent chains, one sample each")
    parser.add_argument("--seed", default="0", help=SEED.help)
    parser.add_argument("--start", default="random", help=f"{', '.join(STARTS)} or exact")
    parser.add_argument(
        "--time-average",
        action="store_true",
        help="also the marginals averaged over all chains and the second half of the sweeps, by conditional means "
        "where the sampler knows them",
    )
    parser.add_argument("--out", help="file for the samples (npz: x, int8 [chains, n])")
    parser.add_argument("--checkpoint", help="file that holds the run; it is resumed from there if it exists")
    _add_knobs(parser, SAMPLERS, _sample)


def _add_knobs(parser, classes, run, other: Mapping[str, str] = MappingProxyType({})) -> None:
    """A flag for every knob of the classes, and the function that runs the command; `other` has flags' other names."""
    from pmpviz.experiments.infer import flags

    known = flags(classes)
    for name, (_, words) in known.items():
        flag = other.get(name, name.replace("_", "-"))
        parser.add_argument(f"--{flag}", dest=f"knob_{name}", metavar=name.upper(), help=words)
    parser.set_defaults(run=run, knobs=tuple(known))


def _add_train(commands) -> None:
    from pmpviz.experiments import train

    parser = commands.add_parser("train", help="learn a model from images and write it")
    train.add_flags(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output, nothing else")
    parser.set_defaults(run=lambda args: train.main(vars(args)))


def _add_deconvolve(commands) -> None:
    from pmpviz.experiments import deconvolve

    parser = commands.add_parser("deconvolve", help="features and their places in binary images")
    deconvolve.add_flags(parser)
    parser.set_defaults(run=lambda args: deconvolve.main(vars(args)))


def _add_reproduce(commands) -> None:
    from pmpviz.experiments.reproductions import REPRODUCTIONS

    parser = commands.add_parser("reproduce", help="an experiment of a paper: its figures beside ours, and a picture")
    parser.add_argument("name", help="; ".join(f"{known.id}: {known.title}" for known in REPRODUCTIONS))
    parser.add_argument("--quick", action="store_true", help="a smaller setting, minutes long; it is said which")
    parser.add_argument("--seeds", help="repetitions; spreads are standard deviations over them")
    parser.add_argument("--figure", help="file for the picture (.html); pmpviz-NAME.html here unless with --json")
    parser.add_argument("--keep", help="folder of long trainings: an interrupted reproduction goes on from there")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output, nothing else")
    parser.set_defaults(run=_reproduce)


def _add_bench(commands) -> None:
    parser = commands.add_parser("bench", help="time every workload; beside a reference checkout if one is given")
    parser.add_argument("--workload", nargs="+", action="extend", help="names of workloads; all if left out")
    parser.add_argument("--reference", help="a checkout of the authors' perturb-and-max-product code")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.set_defaults(run=_bench)


def _add_contract(commands) -> None:
    parser = commands.add_parser("contract", help="which laws algorithms of your own keep (with --plugin FILE.py)")
    parser.add_argument("--id", action="append", help="an algorithm by its id, again for more; all yours if left out")
    parser.add_argument("--law", action="append", help="one law by its name, again for more; all if left out")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output, nothing else")
    parser.set_defaults(run=_contract)


def _add_model(parser) -> None:
    parser.add_argument("model", help="a .uai, .npz or .json file, or a spec such as square:25x25,theta=-0.1")
    parser.add_argument("--evidence", help="a .evid file: clamped variables")
    parser.add_argument("--beta", default="1", help="inverse temperature: multiplies the potentials")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output, nothing else")


def _number(name: str, text: Any, low: float, high: float, scale: str = "int"):
    return Param(name, name, low, high, low, scale=scale).parse(text)


def _load(args):
    """(target, float64 tables or None) of the command line's model, evidence and beta."""
    from pmpviz.exact import insist_possible
    from pmpviz.io import SUFFIXES, load_model
    from pmpviz.io.uai import read_evid
    from pmpviz.models import build_spec
    from pmpviz.types import Evidence, Target

    beta = _number("beta", args.beta, 0.0, 1000.0, "linear")
    tables = None
    if Path(args.model).suffix.lower() in SUFFIXES or os.sep in args.model or os.path.isfile(args.model):
        loaded = load_model(args.model)
        model, tables = loaded.model, loaded.tables
    else:
        model = build_spec(args.model)
    # As a Path, since a text that begins with a digit would be read as the evidence itself.
    values = read_evid(Path(args.evidence), model.card) if args.evidence is not None else {}
    target = Target.of(model, Evidence.of(model.n, values), beta)
    insist_possible(target, tables)
    return target, tables


def _list(args) -> None:
    from pmpviz.experiments.reproductions import REPRODUCTIONS
    from pmpviz.io.datasets import DATASETS
    from pmpviz.learning import LEARNERS
    from pmpviz.marginals import SOLVERS
    from pmpviz.models import BUILDERS
    from pmpviz.oracles import ORACLES
    from pmpviz.samplers import SAMPLERS

    everything = {
        "models": [_described(b.id, b.label, b.help, b.params) for b in BUILDERS],
        "algorithms": [_described_class(c) | {"kind": c.spec.kind} for c in SAMPLERS],
        "solvers": [_described_class(c) for c in SOLVERS],
        "oracles": [_described_class(c) for c in ORACLES],
        "datasets": [_described(d.id, d.label, d.help, d.params) for d in DATASETS],
        "learners": [_described_class(c) for c in LEARNERS],
        "reproductions": [
            _described(r.id, r.title, r.settings, ()) | {"quick": r.quick_settings, "shown": r.shown}
            for r in REPRODUCTIONS
        ],
    }
    chosen = {name: rows for name, rows in everything.items() if args.what in (None, name)}
    if args.json:
        print(json.dumps(chosen))
        return
    for name, rows in chosen.items():
        print(f"{name}:")
        for row in rows:
            kind = "".join(f" [{row[said]}]" for said in ("guarantee", "promise") if said in row)
            shown = f" (/{row['shown']})" if row.get("shown") else ""
            print(f"  {row['id']:<16} {row['label']}{kind}: {row['help']}{shown}")
            for param in row["params"]:
                print(f"    {param['name']:<16} {param['range']}, default {param['default']}")


def _described(identity: str, label: str, words: str, params: tuple[Param, ...]) -> dict[str, Any]:
    rows = [{"name": p.name, "default": p.default, "range": p.range_text(), "help": p.help} for p in params]
    return {"id": identity, "label": label, "help": words, "params": rows}


def _described_class(cls) -> dict[str, Any]:
    from pmpviz.oracles import OracleSpec

    spec = cls.spec
    said = {"promise": spec.promise} if isinstance(spec, OracleSpec) else {"guarantee": spec.guarantee}
    own = said | {"paper": spec.paper}
    return _described(spec.id, spec.label, spec.summary, spec.params) | own


def _exact(args) -> None:
    from pmpviz import exact
    from pmpviz.runs import device

    device.prepare()
    target, tables = _load(args)
    solved = exact.solve(target, tables, patient=True)
    if not np.isfinite(solved.log_z):
        raise InputError("the weights are too large to be summed in double precision; scale them down")
    marginals = [[float(p) for p in row] for row in solved.marginals] if solved.marginals is not None else None
    found = {"log_z": solved.log_z, "marginals": marginals, "method": solved.method, "n": target.n}
    if args.json:
        print(json.dumps(found))
        return
    print(f"log Z = {solved.log_z:.12g}  (natural logarithm; {solved.method})")
    for i, row in enumerate(marginals or []):
        print(f"{i}\t" + "\t".join(f"{p:.9f}" for p in row))


def _infer(args) -> None:
    from pmpviz.experiments import infer
    from pmpviz.io.files import check_outputs
    from pmpviz.marginals import make_solver
    from pmpviz.marginals.anytime import Limit
    from pmpviz.runs import device

    seconds = None if args.seconds is None else _number("seconds", args.seconds, 0.0, 1e6, "linear")
    # From here on a signal is answered with the best that is known by then.
    with Limit(seconds) as limit:
        device.prepare()
        algorithm = make_solver(args.algorithm, **_knobs(args))
        target, tables = _load(args)
        check_outputs((args.model, args.evidence), (args.out,))
        infer.main(algorithm, target, tables, args.out, args.json, limit)


def _knobs(args) -> dict[str, str]:
    """The knobs that were given, by name."""
    return {name: text for name in args.knobs if (text := getattr(args, f"knob_{name}")) is not None}


def _map(args) -> None:
    from pmpviz.experiments import maximise
    from pmpviz.io.files import check_outputs
    from pmpviz.oracles import make_oracle
    from pmpviz.runs import device

    device.prepare()
    oracle = make_oracle(args.oracle, **_knobs(args))
    target, tables = _load(args)
    check_outputs((args.model, args.evidence), (args.out,))
    maximise.main(oracle, target, tables, args.out, args.json)


def _sample(args) -> None:
    from pmpviz.experiments import sample
    from pmpviz.io.files import check_outputs
    from pmpviz.runs import device
    from pmpviz.samplers import make_sampler

    device.prepare()
    algorithm = make_sampler(args.algorithm, **_knobs(args))
    target, tables = _load(args)
    # Before the run: it may be long.
    check_outputs((args.model, args.evidence), (args.out, args.checkpoint))
    sample.main(vars(args), algorithm, target, tables)


def _reproduce(args) -> None:
    from pmpviz.experiments.reproductions import command

    command.main(args.name, args.quick, args.seeds, args.figure, args.json, args.keep)


def _bench(args) -> None:
    from pmpviz.experiments import bench

    bench.main(args.workload, args.reference, args.json)


def _contract(args) -> None:
    from pmpviz.contract.command import main as try_laws
    from pmpviz.runs import device

    device.prepare()
    try_laws(args.id, args.law, args.json)


if __name__ == "__main__":
    code = main()
    # The answer is given: an interrupt that comes late does not make a failure of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise SystemExit(code)
