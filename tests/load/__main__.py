"""`python -m tests.load [SESSIONS] [--seconds 20] [--lattices 512]`: what a server carries, in lines."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from tests.load.visitor import Visitor

ROOT = Path(__file__).resolve().parents[2]
STOP_SECONDS = 10.0
LEFT_SECONDS = 60


def main() -> None:
    """Measure, and print what was measured."""
    options = _options()
    server, address = _serve()
    try:
        begun = memory(server.pid)
        print(f"server {server.pid}: {begun:.0f} MB at the start; load of the machine {os.getloadavg()[0]:.1f}")
        if options.sessions:
            asyncio.run(_class(address, server.pid, options.sessions, options.seconds))
            _left(server.pid, begun)
        if options.lattices:
            asyncio.run(_large(address, server.pid, options.lattices, options.seconds))
            _left(server.pid, begun)
    finally:
        server.terminate()
        server.wait(30)


def memory(process: int) -> float:
    """MB of a process that lie in memory."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


async def _class(address: str, process: int, sessions: int, seconds: float) -> None:
    """So many sessions open Home at once and stay; then one of them presses Stop."""
    visitors = [Visitor(address) for _ in range(sessions)]
    tasks = [asyncio.ensure_future(visitor.stay()) for visitor in visitors]
    await asyncio.sleep(5 + seconds)
    now, served = time.monotonic(), processor(process)
    rates = sorted(sum(now - v.begun - t < seconds for t in v.updates) / seconds for v in visitors)
    first = [v.updates[0] if v.updates else float("inf") for v in visitors]
    stopped = [await _stopped(visitor) for visitor in visitors[:5]]
    own = resource.getrusage(resource.RUSAGE_SELF)
    print(
        f"{sessions} sessions on Home: updates/s {rates[0]:.2f} at the minimum, {statistics.median(rates):.2f} at the "
        f"median; first update after {statistics.median(first):.1f} s at the median, {max(first):.1f} s at most; Stop "
        f"{max(stopped):.2f} s at most of {len(stopped)}; {sum(v.bytes for v in visitors) / 2**20 / (5 + seconds):.1f} "
        f"MB/s sent; server {served:.0f} s and clients {own.ru_utime + own.ru_stime:.0f} s of processor; "
        f"{memory(process):.0f} MB; load of the machine {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _stopped(visitor: Visitor) -> float:
    """Seconds from pressing Stop to the picture that stands; infinite where none came."""
    await visitor.ask("pause")
    try:
        return await asyncio.wait_for(visitor.until(playing=False), STOP_SECONDS)
    except TimeoutError:
        return float("inf")


async def _large(address: str, process: int, side: int, seconds: float) -> None:
    """One visitor of large lattices: each sampler in turn, from the start."""
    for algorithm in ("colour_gibbs", "pmp"):
        visitor = Visitor(address, "playground", f"model=square:{side}x{side}&chains=64&lane1={algorithm}")
        task = asyncio.ensure_future(visitor.stay())
        while not visitor.updates:
            await asyncio.sleep(0.1)
        await visitor.ask("play")
        await asyncio.sleep(seconds)
        print(f"{side}x{side}, {algorithm}: {len(visitor.updates)} updates; {memory(process):.0f} MB", flush=True)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def processor(process: int) -> float:
    """Seconds of processor that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _left(process: int, begun: float) -> None:
    time.sleep(LEFT_SECONDS)
    print(f"a minute after they left: {memory(process) - begun:+.0f} MB from the start", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument("sessions", nargs="?", type=int, default=40, help="that open Home at once (default 40)")
    parser.add_argument("--seconds", type=float, default=20.0, help="over which updates are counted (default 20)")
    parser.add_argument(
        "--lattices", type=int, default=0, help="side of the lattices of one more visitor (default none)"
    )
    return parser.parse_args()


def _serve() -> tuple[subprocess.Popen, str]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
            return server, address
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    main()
