#!/usr/bin/env python3
"""The prose check finds what it is there to find."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from check_prose import check


def words(count):
    return " ".join(["word"] * (count - 1) + ["end."])


class CheckProse(unittest.TestCase):
    def test_finds_nothing_in_plain_text(self):
        for text in (
            "# Heading\n\n" + words(25) + " " + words(25),
            words(40) + "\n" + "\n\n".join([words(5)] * 9),
            "- " + words(25) + "\n- " + words(25),
            "| " + words(60) + " | " + words(60) + " |",
            "```\nwhoever " + words(60) + "\n```\n",
            "Short.\n\n    whoever " + words(60) + "\n",
            "It is in `src/host/bell.hpp`, and [unit:Strangers.AreRejected/plain](whoever.md) tests it.",
            "Its seamless doorbells.",
        ):
            self.assertEqual(check("a.md", text)[0], [], text)

    def test_finds_each_fault(self):
        for text, where in (
            ("Short.\n\n" + words(20) + "\n" + words(41), "a.md:3: a sentence of 41 words"),
            ("1. " + "word " * 40 + "`code span`, end.", "a.md:1: a sentence of 42 words"),
            (words(26) + " " + words(5), "a.md: 1 of 2 sentences"),
            ("| a | Whoever reads |", 'a.md:1: "Whoever"'),
            ("# The seam", 'a.md:1: "seam"'),
            ("```\ncode\n```\n\nThe parts, of\nwhich some are long.", 'a.md:5: "of which"'),
        ):
            self.assertTrue(any(fault.startswith(where) for fault in check("a.md", text)[0]), text)


if __name__ == "__main__":
    unittest.main()
