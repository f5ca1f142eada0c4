#!/usr/bin/env python3
"""Plain English in README.md, docs/*.md and docs/guide/*.md: sentence length, and words that may not come back.

check_prose.py [FILE...]: prints a line for each file and a line for each fault, and exits with 1 if there is a fault. It measures the
sentences of paragraphs and lists, and searches tables and headings for words as well. It skips code blocks. A code span and a test's name
count as one word, and it does not search them, since they name things as they are called in the code.
"""

import re
import sys
from pathlib import Path

MOST_WORDS = 40  # of one sentence
LONG_WORDS = 25  # a sentence of more is long
MOST_LONG = 0.15  # the share of a file's sentences that may be long

# Words for which the field has a better one, and inversions that have to be read twice: (pattern, what to write instead).
NOT_AGAIN = (
    (r"letters?", "datagram"),
    (r"bells?", "doorbell"),
    (r"cards?", "node record"),
    (r"greetings?|lifelines?", "hello; keepalive connection"),
    (r"strangers?", "unauthenticated peer"),
    (r"seams?", "transport interface"),
    (r"the rooms|rooms? of the house|rooms? for each", "folder, component"),
    (r"by (day|night)", "default suite, extended suite"),
    (r"look(s|ed|ing)? after", "poll, maintain, make progress for: whichever it does"),
    (r"whoever", "name the thread, node or process that does it"),
    (r"of (which|whom|none)|is to be had", "begin a sentence with the subject, in the active voice"),
)
WORDS = tuple((re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in NOT_AGAIN)

ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|cf|etc|Fig|[A-Z])\.$")
SENTENCE_END = re.compile(r"""(?<=[.!?])["')*_]*\s+""")
LIST_ITEM = re.compile(r"^\s*([-*+]|\d+\.)\s+")


def plain(line):
    """The line as it is read: code spans and names of tests as one word, links as their text."""
    line = re.sub(r"\b\w+:\w+(/\w+)*\.\S+", "test", line)
    line = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "`code`", line)
    line = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", line)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)


def blocks(text):
    """(number of the first line, kind, plain text) of each paragraph, list item, table row and heading."""
    begin, lines, fence = 0, [], None
    for number, line in enumerate(text.splitlines() + [""], 1):
        mark = re.match(r"\s*(```|~~~)", line)
        is_indented = not lines and line.startswith("    ") and not LIST_ITEM.match(line)
        is_code = fence is not None or mark is not None or is_indented
        if mark and fence in (None, mark[1]):
            fence = mark[1] if fence is None else None
        is_prose = not is_code and line.strip() and not re.match(r"\s*(\||#+ |<)", line)
        if lines and (not is_prose or LIST_ITEM.match(line)):
            yield begin, "prose", plain(" ".join(lines))
            lines = []
        if is_prose:
            begin = begin if lines else number
            lines.append(LIST_ITEM.sub("", line, count=1).strip())
        elif not is_code and line.strip():
            yield number, "other", plain(line)


def sentences(paragraph):
    """Its sentences, each as a list of words."""
    parts = []
    for part in SENTENCE_END.split(paragraph):
        if parts and ABBREVIATION.search(parts[-1]):
            parts[-1] += " " + part
        else:
            parts.append(part)
    return [words for words in ([word for word in part.split() if re.search(r"\w", word)] for part in parts) if words]


def check(name, text):
    """What is wrong with this text, and its line for people."""
    faults, lengths = [], []
    for line, kind, words in blocks(text):
        for pattern, instead in WORDS:
            faults += [f'{name}:{line}: "{found[0]}" (instead: {instead})' for found in pattern.finditer(words)]
        for sentence in sentences(words) if kind == "prose" else ():
            lengths.append(len(sentence))
            if len(sentence) > MOST_WORDS:
                faults.append(f"{name}:{line}: a sentence of {len(sentence)} words: {' '.join(sentence[:8])} ...")
    long = sum(length > LONG_WORDS for length in lengths)
    share = long / max(len(lengths), 1)
    if share > MOST_LONG:
        faults.append(f"{name}: {long} of {len(lengths)} sentences have over {LONG_WORDS} words; {MOST_LONG:.0%} may")
    return faults, f"{name}: {len(lengths)} sentences, {share:.0%} over {LONG_WORDS} words"


def main(files):
    root = Path(__file__).resolve().parent.parent
    paths = [Path(file) for file in files] or sorted(set([*root.glob("docs/*.md"), *root.glob("docs/guide/*.md"), root / "README.md"]) - {root / "docs/api.md"})  # of headers
    results = [check(str(path.relative_to(root) if path.is_relative_to(root) else path), path.read_text()) for path in paths]
    for faults, line in results:
        print(line)
        print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if any(faults for faults, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
