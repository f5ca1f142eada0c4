#!/usr/bin/env python3
"""api.py [--check]: writes docs/api.md, every public name of include/am/*.hpp with the first sentence of its own comment.

--check writes nothing, and fails where the file is not what the headers say. Fails, too, and names them, where public types or functions
have no comment. Overloads, and names on consecutive lines under one comment, share it. Variables are listed where they have one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OWN = "// -- for the functions of this model"  # what follows in a class is for libam alone
FIELD = "."  # stands before the name of a variable
HIDDEN = {"impl", "core", "detail"}
INTRO = """# The interface, name by name

Made by `scripts/api.py` from the comments of `include/am/*.hpp`, which say more: errors, progress, sources. The headers in C
(`am2.h`, `gam.h`, `cmam.h`, `cmmd.h`) are in [porting.md](porting.md).
"""


def without_brackets(text, pair):
    """Drops what stands between these brackets, also nested."""
    depth, kept = 0, []
    for at, sign in enumerate(text):
        if sign == pair[0] and not (pair == "<>" and text[at - 1 : at] in ("<", "=")):
            depth += 1
        elif sign == pair[1] and depth > 0:
            depth -= 1
        elif depth == 0:
            kept.append(sign)
    return "".join(kept)


def name_of(declaration):
    """What a declaration declares; None: nothing that a user calls."""
    text = re.sub(r"\[\[.*?\]\]", "", declaration)
    text = re.sub(r"//.*", "", text)
    text = " ".join(text.split())
    while match := re.match(r"template <", text):
        depth = 0
        for at in range(match.end() - 1, len(text)):
            depth += {"<": 1, ">": -1}.get(text[at], 0)
            if depth == 0:
                text = text[at + 1 :].strip()
                break
        text = re.sub(r"^requires ?\(.*?\) (?=\[|[a-zA-Z_:]+[ <&*])", "", text)
    if re.search(r"= delete|= default|friend |^static_assert|^using namespace|^extern |^(class|struct) \w+;$", text):
        return None
    if match := re.match(r"(?:class|struct|enum class|union|concept) (\w+)", text):
        return match.group(1)
    if match := re.match(r"using (\w+) =", text):
        return match.group(1)
    head = without_brackets(text.split(" : ")[0] if ") : " in text else text, "<>")
    if "operator" in head:
        return None
    if match := re.search(r"([~:]?\w+)\s*\(", head):
        return None if match.group(1)[0] in "~:" else match.group(1)
    match = re.search(r"(\w+)\s*(?:\{[^}]*\}|=.*)?;?$", head)
    return FIELD + match.group(1) if match else None


def first_sentence(comment):
    text = " ".join(comment).strip()
    match = re.match(r"(.+?[.:])(?= [A-Z(`]|$)", text)
    sentence = (match.group(1) if match else text).rstrip(".:")
    return sentence.replace("|", "\\|")


class Header:
    def __init__(self, path):
        self.lines = path.read_text().split("\n")
        self.names = {}  # name: sentence or ""
        self.places = {}
        self.at = self.start = 0
        self.namespace([])

    def add(self, name, comment):
        is_field = FIELD in name
        name = name.replace(FIELD, "")
        parts = name.split("::")
        is_constructor = len(parts) > 1 and parts[-1] == parts[-2]
        if (comment or not is_field) and not name.endswith("_") and not is_constructor:
            self.names[name] = self.names.get(name) or first_sentence(comment)
            self.places.setdefault(name, self.start)

    def namespace(self, path):
        """Up to the end of a namespace, or of the file."""
        comment, group = [], []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if match := re.match(r"namespace ([\w:]*) ?\{", line):
                self.at += 1
                self.namespace(path + match.group(1).split("::"))
            elif line == "}" or line.startswith("}  // namespace"):
                self.at += 1
                return
            elif line.startswith("///"):
                comment.append(line.lstrip("/ "))
                self.at += 1
            elif not line.strip() or line.startswith(("#", "//", "extern")):
                comment, group = [], [] if not line.strip() else group
                self.skip_macro()
            elif path and path[0] == "am" and not HIDDEN & set(path):
                group = comment or group
                self.declaration("", group, 0)
                comment = []
            else:
                self.declaration(None, [], 0)

    def skip_macro(self):
        while self.lines[self.at].endswith("\\"):
            self.at += 1
        self.at += 1

    def declaration(self, owner, comment, indent):
        """One, with its body; the members of a class, too. owner: None where nothing of it is public."""
        text, depth = [], 0
        start = self.at
        while True:
            line = self.lines[self.at]
            code = re.sub(r'"(\\.|[^"])*"', '""', re.sub(r"//.*", "", line))
            text.append(line)
            self.at += 1
            depth += code.count("(") - code.count(")")
            if depth == 0 and re.search(r"[;{}]\s*$", code):
                break
        first = " ".join(text)
        trailing = re.search(r"///< (.*)", text[-1])
        own = [trailing.group(1)] if trailing else comment
        while trailing and self.at < len(self.lines) and re.match(r"\s*///<", self.lines[self.at]):
            self.at += 1
        name = name_of(re.sub(r"\{[^{}]*\}?\s*$", "", first) if "{" in first else first)
        self.start = start
        if owner is not None and name:
            self.add(owner + name, own)
        if re.search(r"\{\s*(//.*)?$", text[-1]):
            is_class = name and FIELD not in name and re.search(r"\b(class|struct) \w+[^;()]*\{\s*(//.*)?$", first) and "enum" not in first
            if owner is not None and is_class:
                self.members(owner + name + "::", indent, "struct " in first)
            else:
                self.skip_body(indent)
        assert self.at > start

    def skip_body(self, indent):
        end = re.compile(r" {%d}\}" % indent)
        while not end.match(self.lines[self.at]):
            self.at += 1
        while not re.search(r"[;}]\s*(//.*)?$", self.lines[self.at]):
            self.at += 1
        self.at += 1

    def members(self, owner, indent, public):
        comment, group = [], []
        inner = " " * (indent + 2)
        while not self.lines[self.at].startswith(" " * indent + "}"):
            line = self.lines[self.at]
            if match := re.match(r"\s*(public|protected|private):", line):
                public = match.group(1) == "public"
                self.at += 1
            elif line.startswith(inner + "///"):
                comment.append(line.strip().lstrip("/ "))
                self.at += 1
            elif not line.strip() or line.strip().startswith(("//", "#")):
                comment, group = [], [] if not line.strip() else group
                public = public and OWN not in line
                self.at += 1
            else:
                group = comment or group
                self.declaration(owner if public else None, group, indent + 2)
                comment = []
        self.at += 1


def main():
    text, missing = INTRO, []
    for path in sorted((ROOT / "include/am").glob("**/*.hpp")):
        relative = path.relative_to(ROOT / "include")
        if HIDDEN & set(relative.parts):
            continue
        names = Header(path).names
        missing += [f"{relative}: {name}" for name, sentence in names.items() if not sentence]
        if names:
            text += f"\n## `<{relative}>`\n\n| | |\n|---|---|\n"
            text += "".join(f"| `{name}` | {sentence} |\n" for name, sentence in names.items())
    page = ROOT / "docs/api.md"
    if missing:
        sys.exit("api.py: public names without a comment:\n" + "\n".join(missing))
    if "--check" in sys.argv:
        if not page.exists() or page.read_text() != text:
            sys.exit("api.py: docs/api.md is not what the headers say: run scripts/api.py")
    else:
        page.write_text(text)


main()
