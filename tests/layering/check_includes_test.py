#!/usr/bin/env python3
"""The include check finds what it is there to find."""

import tempfile
import unittest
from pathlib import Path

from check_includes import check

TREE = {
    "include/am/am.hpp": "#include <am/impl/ring.hpp>\n",
    "include/am/impl/ring.hpp": "#include <atomic>\n#include <cstdint>\n",
    "src/host/board.hpp": "#include <am/am.hpp>\n#include <sys/mman.h>\n",
    "src/core/node.hpp": '#include <am/am.hpp>\n#include "transports/transport.hpp"\n',
    "src/core/node.cpp": '#include "core/node.hpp"\n#include "transports/tcp/tcp.hpp"\n#include "transports/shm/shm_transport.hpp"\n#include <unistd.h>\n',
    "src/transports/transport.hpp": '#include <am/am.hpp>\n#include "host/board.hpp"\n',
    "src/transports/shm/shm_transport.hpp": '#include "transports/shm/rings.hpp"\n',
    "src/transports/shm/rings.hpp": '#include "host/board.hpp"\n',
    "src/transports/tcp/tcp.hpp": '#include "transports/transport.hpp"\n',
    "src/transports/tcp/tcp.cpp": '#include "transports/tcp/tcp.hpp"\n#include "transports/tcp/socket.hpp"\n',
    "src/transports/tcp/socket.hpp": "#include <sys/socket.h>\n",
    "src/transports/emulated/adapter.cpp": '#include "emulated_hw/flit.hpp"\n',
    "src/emulated_hw/flit.hpp": "#include <cstdint>\n",
    "examples/hello.cpp": "#include <am/am.hpp>\n",
    "examples/old.c": "#include <cmam/cmam.h>\n#include <stdio.h>\n",
    "include/am/cmam.h": "#include <stdint.h>\n",
    "include/am/compat/cmam/cmam.h": "#include <am/cmam.h>\n",
    "benchmarks/report.hpp": "#include <nlohmann/json.hpp>\n",
    "benchmarks/flood.cpp": '#include "report.hpp"\n#include <am/am.hpp>\n',
}


class CheckIncludes(unittest.TestCase):
    def faults(self, file="", line=""):
        """Faults of the tree with this line added to this file."""
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            for path, text in TREE.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text + (line if path == file else ""))
            return check(root)

    def reject(self, file, include, reason):
        faults = [fault for fault in self.faults(file, f"#include {include}\n") if "circle" not in fault]
        self.assertEqual(len(faults), 1, faults)
        self.assertIn(file, faults[0])
        self.assertIn(reason, faults[0])

    def test_tree_in_order(self):
        self.assertEqual(self.faults(), [])

    def test_core_and_transports_meet_at_the_seam(self):
        self.reject("src/transports/tcp/tcp.cpp", '"core/node.hpp"', "may not include")
        self.reject("src/core/node.cpp", '"transports/tcp/socket.hpp"', "may not include")
        self.reject("src/core/node.cpp", '"transports/shm/rings.hpp"', "may not include")

    def test_a_host_knows_no_network_and_no_node(self):
        self.reject("src/host/board.hpp", '"transports/transport.hpp"', "may not include")
        self.reject("src/host/board.hpp", '"core/node.hpp"', "may not include")

    def test_hardware_knows_nothing_above_it(self):
        self.reject("src/emulated_hw/flit.hpp", '"core/node.hpp"', "may not include")
        self.reject("src/emulated_hw/flit.hpp", "<am/impl/ring.hpp>", "may not include")
        self.reject("src/transports/tcp/tcp.cpp", '"emulated_hw/flit.hpp"', "may not include")

    def test_public_headers_have_the_standard_library_alone(self):
        self.reject("include/am/impl/ring.hpp", "<unistd.h>", "standard library alone")
        self.reject("include/am/impl/ring.hpp", "<boost/config.hpp>", "standard library alone")
        self.reject("include/am/impl/ring.hpp", '"core/node.hpp"', "may not include")

    def test_old_names_are_for_examples(self):
        self.reject("src/core/node.hpp", '"cmam/cmam.h"', "no such file")
        self.reject("include/am/am.hpp", "<cmam/cmam.h>", "standard library alone")
        self.reject("examples/old.c", "<cmam/other.h>", "standard library alone")

    def test_examples_see_the_public_interface_alone(self):
        self.reject("examples/hello.cpp", "<am/impl/ring.hpp>", "may not include")
        self.reject("examples/hello.cpp", '"core/node.hpp"', "may not include")
        self.reject("examples/hello.cpp", "<unistd.h>", "standard library alone")

    def test_measurements_use_what_users_have(self):
        self.reject("benchmarks/flood.cpp", '"core/node.hpp"', "may not include")
        self.reject("benchmarks/flood.cpp", '"transports/tcp/tcp.hpp"', "may not include")

    def test_names_of_includes(self):
        self.reject("src/core/node.cpp", '"am/am.hpp"', "included as <am/am.hpp>")
        self.reject("src/core/node.cpp", "<core/node.hpp>", 'included as "core/node.hpp"')
        self.reject("src/core/node.cpp", '"../core/node.hpp"', "from the include root")
        self.reject("src/core/node.cpp", '"core/gone.hpp"', "no such file")
        self.reject("src/core/node.cpp", "<am/gone.hpp>", "no such file")

    def test_circle(self):
        faults = self.faults("include/am/impl/ring.hpp", "#include <am/am.hpp>\n")
        self.assertEqual(faults, ["circle: include/am/am.hpp -> include/am/impl/ring.hpp -> include/am/am.hpp"])


if __name__ == "__main__":
    unittest.main()
