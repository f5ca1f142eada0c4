#!/bin/bash
# demo.sh: sets libam up, then shows it: a program on a real file, a simulation, here and on two hosts, and a latency table with
# neighbours. The hosts are network namespaces where those may be made (root); else TCP over loopback shows the network alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh

heading() { printf '\n=== %s\n\n' "$1"; }

heading "word_count: 4 processes count the words of the GNU GPL in a hash table spread over them"
build/bin/amrun -n 4 build/bin/examples/word_count /usr/share/common-licenses/GPL-3

heading "life: Conway's game on a torus split over 4 processes"
build/bin/amrun -n 4 build/bin/examples/life

hosts=("demo$$-a" "demo$$-b")
remove_hosts() { for host in "${hosts[@]}"; do ip netns del "$host" 2>/dev/null || true; done; }
make_hosts() {
  trap remove_hosts EXIT
  ip netns add "${hosts[0]}" && ip netns add "${hosts[1]}" &&
    ip -n "${hosts[0]}" link add eth0 type veth peer name eth0 netns "${hosts[1]}" || return
  local number=0 host
  for host in "${hosts[@]}"; do
    number=$((number + 1))
    ip -n "$host" addr add "10.88.0.$number/24" dev eth0 && ip -n "$host" link set eth0 up || return
  done
  for host in "${hosts[@]}"; do
    until ip -n "$host" -brief link show eth0 | grep -q ' UP '; do sleep 0.1; done
  done
}
if make_hosts 2>/dev/null; then
  heading "life on two hosts: amrun --hosts, shared memory within a host, TCP between"
  AM_VERBOSE=1 AM_AGENT=$PWD/tests/process/enter_host.sh \
    ip netns exec "${hosts[0]}" build/bin/amrun --hosts "${hosts[0]}:2,${hosts[1]}:2" build/bin/examples/life
  remove_hosts
else
  heading "life over TCP, on this host alone: network namespaces for two of them cannot be made here"
  AM_TRANSPORT=tcp build/bin/amrun -n 4 build/bin/examples/life
fi

heading "ambench pingpong: half round trip of short messages, beside the limit of this machine, Open MPI and UCX"
build/bin/ambench pingpong --compare
