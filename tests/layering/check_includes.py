#!/usr/bin/env python3
"""Includes go downward only: models -> core -> transports -> host -> the public interface.

Each folder has one rule: the patterns of what it may include. An include that no pattern allows, that names no file of
the project, or that closes a circle, is a fault. Includes of the system and of other libraries are free, except in
public headers and examples, which have the standard library alone (and examples the old interfaces' names for their headers).
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', re.MULTILINE)
STANDARD = re.compile(r"[a-z_]+|(assert|errno|float|inttypes|limits|math|stdalign|stdarg|stdatomic|stdbool|stddef"
                      r"|stdint|stdio|stdlib|string|time)\.h")
OURS = ("am/", "host/", "core/", "transports/", "models/", "emulated_hw/", "sim/", "results/", "tests/")

# What core sees of the transports: the seam, the header that each one's folder is named after (core makes them), and
# shared memory's one that the inline path needs; and where nodes meet whom no launcher brings together.
SEAM = (
    r"transports/\w+\.hpp",
    r"transports/(\w+)/\1\.hpp",
    r"transports/shm/shm_transport\.hpp",
    r"transports/tcp/meeting\.hpp",
)

# The limits of a network over libfabric are measured on the provider and the interface that libam takes: so ambench asks as it does.
LIMITS = (r"transports/ofi/providers\.hpp",)

# (folder, patterns that it may include, whether libraries other than the standard one are free). First match counts.
RULES = (
    ("include/am/", (r"am/.*",), False),
    ("src/models/", (r"models/.*", r"am/(?!impl/).*", r"am/impl/(object_identity|waiter)\.hpp"), True),
    ("src/core/", (r"core/.*", *SEAM, r"host/.*", r"am/.*"), True),
    ("src/transports/emulated/", (r"emulated_hw/.*", r"transports/.*", r"host/.*", r"am/.*"), True),
    ("src/transports/", (r"transports/.*", r"host/.*", r"am/.*"), True),
    ("src/host/", (r"host/.*", r"am/.*"), True),
    ("src/emulated_hw/", (r"emulated_hw/.*",), True),
    ("src/sim/", (r"sim/.*", r"emulated_hw/.*", r"am/sim/.*"), True),
    ("examples/", (r"am/(?!impl/).*",), False),
    ("benchmarks/", (r"am/(?!impl/).*", r"emulated_hw/.*", r"results/.*", *LIMITS), True),
    ("tools/results/", (r"results/.*",), True),
    ("tools/amsim/", (r"am/.*", r"emulated_hw/.*"), True),
    ("tools/", (r"am/.*", r"core/.*", r"transports/.*", r"host/.*"), True),
)
OLD_NAMES = "include/am/compat"  # by which programs for the old interfaces find their headers
ROOTS = ("include", "src", "tools")  # where an include of ours is looked for


def sources(root):
    for top in ("include", "src", "examples", "benchmarks", "tools"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".hpp", ".cpp", ".h", ".c"):
                yield path.relative_to(root).as_posix()


def includes(root, source):
    """Pairs of (line, name, whether in angle brackets) of one file."""
    text = (root / source).read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(match.lastindex)) + 1
        yield line, match[match.lastindex], match.lastindex == 1


def resolve(root, source, name):
    """The project's file that an include names, or None."""
    for place in (*ROOTS, Path(source).parts[0]):
        if (root / place / name).is_file():
            return f"{place}/{name}"
    return None


def fault_of(root, source, name, angled):
    """Why this include may not be, or None."""
    folder, allowed, libraries_free = next(rule for rule in RULES if source.startswith(rule[0]))
    if angled and (root / OLD_NAMES / name).is_file() and folder == "examples/":
        return None
    if angled and not name.startswith("am/"):
        if not libraries_free and not STANDARD.fullmatch(name):
            return f"{folder} has the standard library alone"
        return f'a file of the project is included as "{name}"' if name.startswith(OURS) else None
    if ".." in Path(name).parts:
        return "includes are named from the include root"
    target = resolve(root, source, name)
    if target is None:
        return "no such file in the project"
    if name.startswith("am/") and not angled:
        return f"a public header is included as <{name}>"
    same_top = target.startswith(Path(source).parts[0] + "/") and not target.startswith(ROOTS[:2])
    if not same_top and not any(re.fullmatch(pattern, name) for pattern in allowed):
        return f"{folder} may not include it"
    return None


def circles(graph):
    """Circles of includes, each once, as lists of files."""
    done, found = set(), []

    def visit(source, path):
        if source in path:
            found.append(path[path.index(source):] + [source])
        elif source not in done:
            for target in graph.get(source, ()):
                visit(target, path + [source])
            done.add(source)

    for source in graph:
        visit(source, [])
    return found


def check(root):
    """All faults of the tree below root, one line each."""
    faults, graph = [], {}
    for source in sources(root):
        if not any(source.startswith(rule[0]) for rule in RULES):
            faults.append(f"{source}: no rule for this folder")
            continue
        for line, name, angled in includes(root, source):
            reason = fault_of(root, source, name, angled)
            if reason:
                faults.append(f"{source}:{line}: {name}: {reason}")
            target = resolve(root, source, name)
            if target:
                graph.setdefault(source, []).append(target)
    return faults + [f"circle: {' -> '.join(circle)}" for circle in circles(graph)]


def main():
    root = Path(sys.argv[1])
    faults = check(root)
    print("\n".join(faults) or f"includes of {len(list(sources(root)))} files are in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
