#!/usr/bin/env python3
"""booksim2.py AMSIM TABLE SUITE: the textbook network held to BookSim2, point by point, within 5%: latencies below 90% of saturation, and
what is accepted there. Nearer to saturation BookSim2's own seeds differ by 20 to 40%, so those points are shown, and not judged."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

TOLERANCE = 0.05
PARAMETERS = ("k", "n", "topology", "traffic", "num_vcs", "vc_buf_size", "routing_delay", "packet_size", "injection_rate")


def measured(amsim, point, seeds):
    """Its row: one curve of one rate. A hypercube has no k."""
    words = [f"{name}={point[name]}" for name in PARAMETERS if (point["topology"], name) != ("hypercube", "k")]
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder, "figures.json")
        subprocess.run([amsim, "network", *words, "--reps", str(seeds), "--json", figures], check=True,
                       stdout=subprocess.DEVNULL)
        return json.loads(figures.read_text())["rows"][0]


def here_and_there(row, point):
    """The median of seeds; or none, where the network is saturated here."""
    if point["accepted"]:
        return row["accepted_flits_per_cycle"]["median"], float(point["accepted"])
    latencies = [figure for name, figure in row.items() if name.startswith("latency_")]
    return latencies[0]["median"] if latencies else None, float(point["latency"])


def main(amsim, table, suite):
    with open(table) as file:
        points = [point for point in csv.DictReader(line for line in file if line[0] != "#") if point["suite"] == suite]
    worse = 0
    for point in points:
        here, there = here_and_there(measured(amsim, point, 3 if suite == "day" else 7), point)
        deviation = abs(here / there - 1) if here else 1
        is_judged = bool(point["accepted"]) or not point["saturation"] or float(point["injection_rate"]) <= 0.9 * float(point["saturation"])
        verdict = "" if deviation <= TOLERANCE or not is_judged else "  WRONG"
        worse += verdict != ""
        print(*(point[name] for name in PARAMETERS), f"BookSim2 {there}, here", f"{here:.4g} ({here / there - 1:+.1%})" if here else "saturated",
              "" if is_judged else "(near saturation)", verdict)
    print(f"{worse} of {len(points)} points deviate by more than {TOLERANCE:.0%}")
    return worse > 0 or not points


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
