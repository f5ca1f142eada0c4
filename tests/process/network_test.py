#!/usr/bin/env python3
"""network_test.py AMSIM: what `amsim network` simulates and tells: where packets of each pattern go, figures that add up, and the same
from however many threads; and its traces, and those of `amsim t1`."""

import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

AMSIM = sys.argv[1]


def simulate(*words):
    """Figures, trace (of FILE), and what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "figures.json"), Path(folder, "trace.json")
        words = [str(files[1]) if word == "FILE" else word for word in words]
        end = subprocess.run([AMSIM, *words, "--json", files[0]], check=True, stdout=subprocess.PIPE, text=True)
        return [json.loads(file.read_text()) if file.exists() else None for file in files] + [end.stdout]


def run(*words):
    return simulate("network", *words)


def rows_of(*words):
    return run(*words)[0]["rows"]


def ways_of(traffic, *words, k=4, n=2):
    """(from, to) of the packets of a mesh."""
    trace = run(f"k={k}", f"n={n}", "topology=mesh", "num_vcs=4", f"traffic={traffic}", "packet_size=1", "injection_rate=0.1", "max_samples=1",
                *words, "--reps", "1", "--trace", "FILE")[1]
    packets = {event["args"]["message"]: event["args"] for event in trace["traceEvents"] if event.get("cat") == "link"}
    return [(packet["from"], packet["to"]) for packet in packets.values()]


class Patterns(unittest.TestCase):
    def test_of_bits_and_digits(self):
        bits = range(4)
        patterns = {
            "transpose": lambda node: node % 4 * 4 + node // 4,
            "bitcomp": lambda node: 15 - node,
            "bitrev": lambda node: sum((node >> bit & 1) << 3 - bit for bit in bits),
            "shuffle": lambda node: sum((node >> bit & 1) << (bit + 1) % 4 for bit in bits),
            "tornado": lambda node: (node % 4 + 1) % 4 + (node // 4 + 1) % 4 * 4,
            "neighbor": lambda node: (node % 4 + 1) % 4 + (node // 4 + 1) % 4 * 4,
        }
        for traffic, to in patterns.items():
            self.assertEqual(set(ways_of(traffic)), {(node, to(node)) for node in range(16)}, traffic)
        self.assertEqual(set(ways_of("tornado", k=8, n=1)), {(node, (node + 3) % 8) for node in range(8)})
        self.assertEqual(set(ways_of("tornado", k=5, n=1)), {(node, (node + 2) % 5) for node in range(5)})

    def test_permutations_are_drawn_by_their_seed(self):
        once, again, other = (set(ways_of("randperm", f"perm_seed={seed}")) for seed in (1, 1, 2))
        self.assertEqual(once, again)
        self.assertNotEqual(once, other)
        for side in zip(*once):
            self.assertEqual(sorted(side), list(range(16)))

    def test_hot_spots_have_their_share(self):
        """Within six times the deviation of what is drawn."""
        for hot, words in (((), ("uniform",)), ((3, 12), ("hotspot", "hotspots=3,12", "hotspot_share=0.5"))):
            ends = [to for _, to in ways_of(*words, "sample_period=6000")]
            for node in range(16):
                share = 1 / 16 if not hot else 0.5 / 16 + 0.25 * (node in hot)
                self.assertAlmostEqual(ends.count(node), len(ends) * share, delta=6 * math.sqrt(len(ends) * share))


class Traffic(unittest.TestCase):
    def test_comes_as_often_as_it_is_asked_for(self):
        """And as far as the nodes are apart: within six times the deviation of what is drawn."""
        for row in rows_of("k=8", "traffic=uniform", "topology=mesh", "num_vcs=4", "packet_size=4", "injection_rate=0.02,0.20,0.35", "seed=7",
                           "details=yes", "--reps", "1"):
            for rate in (0.02, 0.2, 0.35):
                deviations = 6 / math.sqrt(rate / 4 * 64 * 10000)
                self.assertAlmostEqual(row[f"accepted_{rate:.2f}_flits_per_cycle"]["median"], rate, delta=rate * deviations)
                one_way = 63 / 6 - 2.625**2  # variance of |x - y| of two in a row of 8, 21 / 8 apart on average
                self.assertAlmostEqual(row[f"passed_{rate:.2f}_routers"]["median"], 1 + 2 * 2.625, delta=math.sqrt(2 * one_way) * deviations)


class Links(unittest.TestCase):
    """Loads of links, of an end that sends."""

    def loads(self, *words):
        row = rows_of(*words, "num_vcs=4", "packet_size=1", "links=yes", "--reps", "1")[0]
        return {name[5:].rsplit("_", 4)[0]: figure["median"] for name, figure in row.items() if name.startswith("link_")}

    def test_are_of_each_that_flits_pass(self):
        loads = self.loads("k=2", "n=1", "topology=mesh", "traffic=bitcomp", "injection_rate=0.3")
        of_0, of_1 = loads["node_0"], loads["node_1"]
        expected = {"node_0": of_0, "node_1": of_1, "router_0_port_0": of_1, "router_0_port_1": of_0, "router_1_port_0": of_0,
                    "router_1_port_2": of_1}
        self.assertEqual(loads.keys(), expected.keys())
        for link, load in expected.items():
            self.assertAlmostEqual(loads[link], load, delta=0.01)
            self.assertAlmostEqual(load, 0.3, delta=0.05)

    def test_are_even_where_a_coin_decides(self):
        """To the other side of a ring of four."""
        loads = self.loads("k=4", "n=1", "topology=torus", "traffic=hotspot", "hotspots=2", "hotspot_share=1", "injection_rate=0.15")
        self.assertAlmostEqual(loads["router_0_port_1"] + loads["router_0_port_2"], 0.15, delta=0.03)
        self.assertAlmostEqual(loads["router_0_port_1"], loads["router_0_port_2"], delta=0.03)


class Topologies(unittest.TestCase):
    def test_take_the_sum_of_the_parts_without_load(self):
        """2 + 5 (channels + 1) cycles and a flit; what the networks of machines take: *_port_test.cpp. In the tree half of all pairs meet three levels above their routers, a quarter two."""
        channels = {"hypercube": 4 / 2, "mesh": 4 / 2, "fattree": 2 * (3 / 2 + 2 / 4 + 1 / 8)}
        for row in rows_of("topology=hypercube,fattree,mesh", "k=2", "n=4", "num_vcs=1", "traffic=uniform", "packet_size=1",
                           "injection_rate=0.02", "--reps", "2"):
            parts = 2 + 5 * (channels[row["topology"]] + 1)
            self.assertAlmostEqual(row["zero_load_cycles"]["median"], parts)
            self.assertAlmostEqual(row["latency_0.02_cycles"]["median"], parts, delta=2)

    def test_go_on_where_classes_of_a_ring_share_a_channel(self):
        """Were packets of both in its buffer at once, all would wait for each other here within 27000 cycles."""
        row = rows_of("k=8", "n=1", "topology=torus", "num_vcs=3", "vc_buf_size=2", "traffic=uniform", "injection_rate=1",
                      "sample_period=3000", "max_samples=4", "--reps", "4")[0]
        self.assertGreater(row["accepted_flits_per_cycle"]["min"], 0.3)

    def test_are_shown_cycle_by_cycle(self):
        for topology in ("hypercube", "fattree"):
            trace = run(f"topology={topology}", "k=2", "n=3", "traffic=uniform", "num_vcs=1", "injection_rate=0.4", "max_samples=1",
                        "--reps", "1", "--trace", "FILE")[1]
            self.assertEqual(trace["otherData"]["title"], f"{topology} of 2^3 nodes, uniform, 1 virtual channel of 6 flits, packets of 4, "
                                                          "injection_rate 0.40")
        for machine, kind, size, shape in (("t1", "high", "k=3", "3 x 3"), ("mmachine", "p0_unordered", "k=3", "3 x 3"), ("care", "packet", "k=3", "3 x 3"),
                                           ("ncube2", "message", "n=3", "2^3 nodes"), ("cm5", "right", "n=2", "4^2 nodes")):
            trace = run(f"machine={machine}", size, f"channel={kind}", "traffic=uniform", "injection_rate=0.3", "max_samples=1", "--reps", "1",
                        "--trace", "FILE")[1]
            self.assertEqual(trace["otherData"]["title"], f"{machine} of {shape}, uniform, {kind}, packets of 4, injection_rate 0.30")
            self.assertEqual({event["args"]["kind"] for event in trace["traceEvents"] if event.get("cat") == "link"}, {kind})


class Traces(unittest.TestCase):
    """What is in them: tests/unit/emulated_hw, and trace_page_test.cpp."""

    def trace(self, *words):
        _, trace, text = simulate(*words, "--trace", "FILE")
        phases = [event["ph"] for event in trace["traceEvents"]]
        self.assertEqual(phases.count("s"), phases.count("f"))
        self.assertGreater(phases.count("f"), 20)
        self.assertEqual("missing" in trace["otherData"], "the trace is full" in text)
        return trace["otherData"]

    def test_show_a_step_of_a_computation(self):
        self.assertEqual(self.trace("t1", "rows=3", "columns=2", "wraps=no")["title"],
                         "T1s on 3 x 2, no row wraps: one step of a computation on a grid")

    def test_show_a_network_until_they_are_full(self):
        torus = ("network", "k=4", "topology=torus", "traffic=uniform", "num_vcs=2", "injection_rate=0.4", "max_samples=1", "--reps", "1")
        small = self.trace(*torus, "sample_period=200")
        self.assertEqual(small["title"], "torus of 4 x 4, uniform, 2 virtual channels of 6 flits, packets of 4, injection_rate 0.40")
        self.assertGreaterEqual(small["cycles"], 200)
        self.assertIn("missing", self.trace(*torus, "sample_period=30000"))


class Figures(unittest.TestCase):
    ASKED = ("traffic=uniform", "injection_rate=0.1,0.3,0.9", "sample_period=300", "details=yes", "links=yes", "saturation=0.05",
             "--reps", "3")
    NETWORKS = (("topology=mesh,torus", "k=4", "num_vcs=2"), ("machine=t1", "k=4"), ("machine=mmachine", "k=4", "channel=p0_unordered"),
                ("machine=ncube2", "n=4"), ("machine=cm5", "n=2", "channel=right"), ("machine=care", "k=4"))

    def test_are_the_same_from_however_many_threads(self):
        for network in self.NETWORKS:
            alone, *others = (rows_of(*network, *self.ASKED, f"threads={threads}") for threads in (1, 2, 5))
            for rows in (alone, *others):
                for row in rows:
                    del row["steps_million_per_s"]
                self.assertEqual(rows, alone)

    def test_add_up(self):
        for row in [row for network in self.NETWORKS for row in rows_of(*network, *self.ASKED)]:
            steps = [row[f"latency_0.30_{part}_cycles"]["median"] for part in ("p50", "p95", "p99", "longest")]
            self.assertEqual(steps, sorted(steps))
            self.assertLessEqual(row["latency_0.30_network_cycles"]["median"], row["latency_0.30_cycles"]["median"])
            links = [figure["median"] for name, figure in row.items() if name.startswith("link_")]
            rate = "0.90" if "latency_0.90_cycles" in row else "0.30"  # the highest that is not saturated
            loads = rate + ("_flits_per_flit_time" if row.get("machine") in ("ncube2", "cm5") else "_flits_per_cycle")
            self.assertAlmostEqual(max(links), row["busiest_" + loads]["median"], delta=0.1)
            passed = 16 * row["accepted_" + loads]["median"] * (row[f"passed_{rate}_routers"]["median"] + 1)
            # Links of the CM-5 carry 3 or 4 flits of a frame, and addresses; those of CARE a terminator, and some packets are stored on their way.
            framed = {"cm5": (4 * 8 + 4.75) / (4 * 8), "care": (4 + 1) / 4}.get(row.get("machine"), 1)
            self.assertAlmostEqual(sum(links) / passed / framed, 1, delta=0.1 if row.get("machine") == "care" else 0.05)
            self.assertGreater(row["zero_load_cycles"]["median"], 7)

    def test_saturation_is_between_a_load_that_is_taken_and_one_that_is_not(self):
        common = ("k=4", "topology=mesh", "num_vcs=2", "sample_period=300", "--reps", "1")
        uniform, hot = ("traffic=uniform",), ("traffic=hotspot", "hotspot_share=1")
        highest = rows_of(*common, *uniform, "injection_rate=0.1", "saturation=0.05")[0]["saturation_flits_per_cycle"]["median"]
        below, above = (rows_of(*common, *uniform, f"injection_rate={rate}")[0] for rate in (highest, highest + 0.05))
        self.assertNotIn("saturated", below)
        self.assertIn("saturated", above)
        one_for_all = rows_of(*common, "injection_rate=0.01", "saturation=0.4", *hot)[0]
        self.assertEqual(one_for_all["saturation_flits_per_cycle"], "none of those tried")

    def test_of_no_packets_are_none(self):
        report, _, text = run("k=4", "num_vcs=1", "injection_rate=1e-9,0.1", "traffic=uniform", "sample_period=100", "--reps", "2")
        for row in report["rows"]:
            self.assertEqual(row["latency_1e-09_cycles"], "no packets")
            self.assertGreater(row["latency_0.10_cycles"]["min"], 7)
        self.assertIn("num_vcs=1 is measured with 2", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
