#!/usr/bin/env python3
"""simulated_runs.py AMSIM TABLE [--write]: what simulated machines do, run by run, as a number for each, held to a table.

When a number is another, that run has changed: figures of `t1` and `papers`, the trace of a run of `t1`, or what passes a network of
`network`, where and when. A change that means to do that writes the table again (--write), and says which runs it changes and why."""

import hashlib
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def text_of(value):
    """Six digits of a fraction: the last ones are the compiler's."""
    if isinstance(value, dict):
        return " ".join(f"{name} {text_of(figure)}" for name, figure in sorted(value.items()))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def hashed(data):
    return hashlib.sha256(data).hexdigest()[:16]


def number_of(row):
    fingerprints = [value for name, value in row.items() if name.startswith("fingerprint_")]
    return " ".join(fingerprints) or hashed(text_of(row).encode())


def name_of(row):
    keys = itertools.takewhile(lambda item: not isinstance(item[1], dict) and "fingerprint_" not in item[0], row.items())
    return " ".join(f"{name}={value}" for name, value in keys)


def runs_of(amsim, command):
    """Names and numbers; FILE in a command is where its trace goes."""
    with tempfile.TemporaryDirectory() as folder:
        figures, trace = Path(folder, "figures.json"), Path(folder, "trace.json")
        words = [str(trace) if word == "FILE" else word for word in command.split()]
        subprocess.run([amsim, *words, "--json", figures], check=True, stdout=subprocess.DEVNULL)
        if trace.exists():
            return [("trace", hashed(trace.read_bytes()))]
        return [(name_of(row), number_of(row)) for row in json.loads(figures.read_text())["rows"]]


def main(amsim, table, write=None):
    lines = [line.split(";") for line in Path(table).read_text().splitlines()]
    known = {command: [line[-1] for line in group] for command, group in itertools.groupby(lines, lambda line: line[0])}
    changed = []
    with open(table if write else "/dev/null", "w") as file:
        for command, numbers in known.items():
            runs = runs_of(amsim, command)
            changed += [f"{command}: {name}: was {then}, is {now}" for (name, now), then in zip(runs, numbers) if now != then]
            changed += [f"{command}: {len(runs)} runs, not {len(numbers)}"] * (len(runs) != len(numbers))
            file.writelines(f"{command};{now}\n" for _, now in runs)
    print(*changed, sep="\n")
    return len(changed) > 0 or not known


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
