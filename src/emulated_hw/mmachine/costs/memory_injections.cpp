#include "emulated_hw/mmachine/costs/memory_injections.hpp"

#include <algorithm>
#include <vector>

#include "emulated_hw/mmachine/costs/composing.hpp"

namespace am::mmachine::costs {

void Semaphore::acquire(Cluster& cluster, Register free) noexcept {
  const Register address = cluster.lea({std::max(written_.ready, free.ready)});
  const Register held = cluster.load(address);
  cluster.jump(cluster.compute(held));
  written_ = cluster.store(address, {});
}

void Semaphore::release(Cluster& cluster) noexcept { written_ = cluster.store({}, {}); }

Register MemoryStreamInjection::open(Cluster& cluster, Register node) noexcept {
  const Register port = cluster.lea();
  const Register header = cluster.store(port, node, hierarchy_cycles);
  (void)cluster.load(port);  // the answer, which comes a traversal after the header has got there
  return {header.ready + hierarchy_cycles};
}

Arrival MemoryStreamInjection::send(Cluster& cluster, const Letter& letter) {
  semaphore_.acquire(cluster, closed_);
  const Register opened = open(cluster, translate(cluster, letter));
  std::vector<Register> words = compose(cluster, letter);
  std::vector<Register> addresses;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool in_memory = letter.words[i] == Source::loaded || letter.words[i] == Source::kept;
    if (in_memory) words[i] = compose_word(cluster, Source::loaded);
    addresses.push_back(cluster.lea());
  }
  const Register handler = cluster.store(opened, {}, hierarchy_cycles);
  Arrival arrival{.head = handler.ready + header_cycles + path_cycles};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Register stored = cluster.store(addresses[i], words[i], hierarchy_cycles);
    arrival.append(stored.ready + header_cycles + path_cycles);
  }
  semaphore_.release(cluster);
  closed_ = {arrival.tail() - path_cycles};
  return arrival;
}

Arrival MemoryBufferInjection::send(Cluster& cluster, const Letter& letter) {
  semaphore_.acquire(cluster, fetched_);
  const std::vector<Register> composed = compose(cluster, letter);
  const Register node = translate(cluster, letter);
  Register address = cluster.lea();
  const auto put = [&](Register word) {
    (void)cluster.store(address, word);
    address = cluster.lea(address);
  };
  put(node);
  put({});  // HandlerIP
  carry_words(
      cluster, letter, composed,
      [&](Register word, Source source) {
        if (source != Source::kept) put(word);
      },
      [] {});
  const Register told = cluster.store(address, {}, hierarchy_cycles);
  semaphore_.release(cluster);
  fetched_ = {told.ready + hierarchy_cycles + letter.words.size()};
  return Arrival::in_one_piece(fetched_.ready + header_cycles + path_cycles, letter.words.size());
}

}  // namespace am::mmachine::costs
