// A memory of a few words as C++20 lets threads see it: weaker than any processor's store buffers. For explorer.hpp,
// which tries all of its choices; nothing here is random or knows about time.
//
// How. Every word keeps its stores, oldest first, in modification order. A thread has a view: for each word the oldest
// store that it may still read. A load reads any store that its view allows, a store goes anywhere behind its thread's
// view, and a release store carries the view that an acquire load of it takes over. (The views are those of Kang et
// al., "A Promising Semantics for Relaxed-Memory Concurrency", POPL 2017, without the promises.)
//
// Covered
//   - stores seen late, and in another order by each thread; loads that see old values in any order (store-store,
//     load-load and store-load reordering, processors that are not multi-copy atomic); stores of several threads to one
//     word, whose order differs from that in which they were executed
//   - release and acquire; read-modify-writes, which nothing comes between, and their release sequences; seq_cst loads,
//     stores and read-modify-writes as in C++20, which order each other and nothing else; full fences
//   - data races on plain words, also of words that are atomic at one time and plain at another, whatever values
//     are read: a plain access that is not ordered by happens-before with a conflicting one is reported
// Not covered
//   - a load that is overtaken by a later store of its thread (load buffering): a load reads only what has been stored
//     before it is executed. For plain words nothing is lost, such an exchange shows as a race. An acquire load cannot
//     be overtaken, nor any load by a release store.
//   - fences other than full ones, consume, compare-exchange, accesses of different sizes to one word
//   - plain words that two threads read: the one reader is checked
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace test {

using Word = std::uint64_t;
using Location = std::uint8_t;

/// Two hashes in one: that two of a million states agree in 128 bits by chance is out of the question.
struct Digest {
  std::uint64_t a = 1, b = 2;
  void add(std::uint64_t word) noexcept {
    a = (a ^ word) * 0x9e3779b97f4a7c15u;
    a ^= a >> 29;
    b = (b + word) * 0xd6e8feb86659fd93u;
    b ^= b >> 32;
  }
  bool operator==(const Digest&) const = default;
};

/// What happened in a thread or comes with a store: for each word the newest store known, and of the words that are
/// read plainly, whether the newest read is known.
struct View {
  static constexpr std::size_t max_locations = 24;
  std::array<std::uint8_t, max_locations> newest{};
  std::uint32_t reads = ~0u;        // by location: no read happened that is unknown here
  std::uint32_t plain_reads = ~0u;  // the same, of plain reads

  void join(const View& other) noexcept {
    for (std::size_t i = 0; i < max_locations; ++i) newest[i] = std::max(newest[i], other.newest[i]);
    reads |= other.reads;
    plain_reads |= other.plain_reads;
  }
};

class Memory {
 public:
  /// word: atomic only. content: plain only. line: atomic when it holds a header, plain when it holds payload.
  enum class Kind : std::uint8_t { word, content, line };
  struct Declaration {
    std::string name;
    Kind kind = Kind::word;
    Word initial = 0;
  };
  static constexpr std::size_t max_threads = 4;

  Memory(std::size_t threads, std::vector<Declaration> words);

  /// The stores that this load, or the read of a read-modify-write, may choose from, as their number.
  [[nodiscard]] unsigned readable(std::size_t thread, Location at, std::memory_order order,
                                  bool modify) const {
    unsigned number = 0;
    for (unsigned i = first(thread, at, order); i < count(at); ++i)
      number += !modify || is_open(at, i) ? 1 : 0;
    return number;
  }
  /// Reads the `choice`th of these, oldest first.
  Word load(std::size_t thread, Location at, std::memory_order order, unsigned choice);
  /// The places in modification order that this store may take, as their number.
  [[nodiscard]] unsigned places(std::size_t thread, Location at, std::memory_order order) const {
    return readable(thread, at, order, true);  // each place lies behind a store that it might have modified
  }
  /// Takes the `choice`th of these, the newest last.
  void store(std::size_t thread, Location at, Word value, std::memory_order order, unsigned choice);
  /// Reads the `choice`th of readable(..., true) and puts f(value) right behind it.
  template <class F>
  Word modify(std::size_t thread, Location at, std::memory_order order, unsigned choice, F f);
  void write(std::size_t thread, Location at, Word value);
  Word read(std::size_t thread, Location at);
  /// A sequentially consistent fence.
  void full_fence(std::size_t thread) {
    Thread& self = threads_state_[thread];
    fenced_.join(self.acquired);
    self.now = self.acquired = self.released = fenced_;
  }

  /// Forgets what nobody can read any more, so that states that differ in the past only are one.
  void settle();
  void fold(Digest& digest) const;
  [[nodiscard]] const std::string& name(Location at) const { return (*words_)[at].name; }
  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }
  /// What went wrong first, or nullptr.
  [[nodiscard]] const char* fault() const noexcept { return fault_; }

 private:
  struct Store {
    Word value = 0;
    View view;              // what a load that acquires gets to know
    bool attached = false;  // by a read-modify-write to the store before it: nothing comes between
    bool plain = false;
  };
  /// A store that carries nothing yet.
  static Store ignorant() noexcept {
    Store made;
    made.view.reads = made.view.plain_reads = 0;
    return made;
  }
  struct Thread {
    View now;       // what bounds its loads and what its release stores carry
    View acquired;  // and what an acquire fence would add
    View released;  // what its relaxed stores carry: its last fence
  };

  [[nodiscard]] Kind kind(Location at) const { return (*words_)[at].kind; }
  [[nodiscard]] unsigned count(Location at) const { return begin_[at + 1] - begin_[at]; }
  Store& stored(Location at, unsigned i) { return stores_[begin_[at] + i]; }
  [[nodiscard]] const Store& stored(Location at, unsigned i) const { return stores_[begin_[at] + i]; }
  [[nodiscard]] unsigned first(std::size_t thread, Location at, std::memory_order order) const {
    const unsigned known = threads_state_[thread].now.newest[at];
    return order == std::memory_order_seq_cst ? std::max<unsigned>(known, consistent_[at]) : known;
  }
  /// Whether another store may come right behind this one.
  [[nodiscard]] bool is_open(Location at, unsigned i) const {
    return i + 1 == count(at) || !stored(at, i + 1).attached;
  }
  /// The `choice`th of the stores that are open.
  [[nodiscard]] unsigned chosen(std::size_t thread, Location at, std::memory_order order,
                                unsigned choice) const {
    unsigned i = first(thread, at, order);
    while (!is_open(at, i) || choice-- != 0) ++i;
    return i;
  }
  [[nodiscard]] bool unknown_plain_write(std::size_t thread, Location at) const {
    for (unsigned i = threads_state_[thread].now.newest[at] + 1u; i < count(at); ++i) {
      if (stored(at, i).plain) return true;
    }
    return false;
  }
  void take_note_of_read(std::size_t thread, Location at, bool plain);
  void insert(std::size_t thread, Location at, unsigned place, Store store, bool release);
  void see(std::size_t thread, Location at, unsigned i, std::memory_order order);
  template <class F>
  void for_each_view(F f);
  void accuse(const char* what) noexcept {
    if (fault_ == nullptr) fault_ = what;
  }
  static bool releases(std::memory_order order) noexcept {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
  }
  static bool acquires(std::memory_order order) noexcept {
    return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
  }

  std::shared_ptr<const std::vector<Declaration>> words_;
  std::size_t threads_;
  std::vector<Store> stores_;  // of the first word, then of the second ...
  std::array<std::uint16_t, View::max_locations + 1> begin_{};
  std::array<Thread, max_threads> threads_state_;
  View fenced_;                                                   // what the full fences so far knew
  std::array<std::uint8_t, View::max_locations> consistent_{};    // by word: the newest that seq_cst touched
  std::array<std::uint8_t, View::max_locations> plain_reader_{};  // 1 + the one that reads it plainly
  const char* fault_ = nullptr;
};

inline Memory::Memory(std::size_t threads, std::vector<Declaration> words)
    : words_(std::make_shared<const std::vector<Declaration>>(std::move(words))), threads_(threads) {
  if (threads > max_threads || words_->size() > View::max_locations)
    throw std::logic_error("too big a model");
  for (std::size_t i = 0; i < words_->size(); ++i) {
    Store initial;
    initial.value = (*words_)[i].initial;
    stores_.push_back(initial);
    begin_[i + 1] = static_cast<std::uint16_t>(i + 1);
  }
}

inline Word Memory::load(std::size_t thread, Location at, std::memory_order order, unsigned choice) {
  if (unknown_plain_write(thread, at)) accuse("race: an atomic load and a plain write");
  const unsigned i = first(thread, at, order) + choice;
  const Word value = stored(at, i).value;
  see(thread, at, i, order);
  if (kind(at) == Kind::line) take_note_of_read(thread, at, false);
  return value;
}

inline void Memory::store(std::size_t thread, Location at, Word value, std::memory_order order,
                          unsigned choice) {
  if (unknown_plain_write(thread, at)) accuse("race: an atomic store and a plain write");
  if ((threads_state_[thread].now.plain_reads >> at & 1) == 0)
    accuse("race: an atomic store and a plain read");
  Store made = ignorant();
  made.value = value;
  const unsigned i = chosen(thread, at, order, choice);
  insert(thread, at, i + 1, made, releases(order));
  if (order == std::memory_order_seq_cst) consistent_[at] = static_cast<std::uint8_t>(i + 1);
}

template <class F>
Word Memory::modify(std::size_t thread, Location at, std::memory_order order, unsigned choice, F f) {
  const unsigned i = chosen(thread, at, order, choice);
  see(thread, at, i, order);
  Store made;
  const Word value = stored(at, i).value;
  made.value = f(value);
  made.view = stored(at, i).view;  // the release sequence goes on
  made.attached = true;
  insert(thread, at, i + 1, made, releases(order));
  if (order == std::memory_order_seq_cst) consistent_[at] = static_cast<std::uint8_t>(i + 1);
  return value;
}

inline void Memory::write(std::size_t thread, Location at, Word value) {
  const View& now = threads_state_[thread].now;
  if (now.newest[at] + 1u != count(at)) accuse("race: a plain write and a store");
  if ((now.reads >> at & 1) == 0) accuse("race: a plain write and a read");
  Store made = ignorant();
  made.value = value;
  made.plain = true;
  insert(thread, at, count(at), made, false);
}

inline Word Memory::read(std::size_t thread, Location at) {
  if (threads_state_[thread].now.newest[at] + 1u != count(at)) accuse("race: a plain read and a store");
  take_note_of_read(thread, at, true);
  return stored(at, count(at) - 1).value;
}

inline void Memory::take_note_of_read(std::size_t thread, Location at, bool plain) {
  const auto reader = static_cast<std::uint8_t>(1 + thread);
  if (plain_reader_[at] != 0 && plain_reader_[at] != reader) accuse("the model: two readers of a plain word");
  plain_reader_[at] = reader;
  const std::uint32_t bit = 1u << at;
  for_each_view([&](View& view) {
    view.reads &= ~bit;
    if (plain) view.plain_reads &= ~bit;
  });
  for (View* view : {&threads_state_[thread].now, &threads_state_[thread].acquired}) {
    view->reads |= bit;
    if (plain) view->plain_reads |= bit;
  }
}

/// A load's effect on what its thread knows.
inline void Memory::see(std::size_t thread, Location at, unsigned i, std::memory_order order) {
  Thread& self = threads_state_[thread];
  const auto index = static_cast<std::uint8_t>(i);
  self.now.newest[at] = std::max(self.now.newest[at], index);
  self.acquired.newest[at] = std::max(self.acquired.newest[at], index);
  self.acquired.join(stored(at, i).view);
  if (acquires(order)) self.now.join(stored(at, i).view);
  if (order == std::memory_order_seq_cst) consistent_[at] = std::max(consistent_[at], index);
}

inline void Memory::insert(std::size_t thread, Location at, unsigned place, Store made, bool release) {
  const auto index = static_cast<std::uint8_t>(place);
  const auto shift = [&](std::uint8_t& newest) {
    if (newest >= index) ++newest;
  };
  for_each_view([&](View& view) { shift(view.newest[at]); });
  shift(made.view.newest[at]);
  shift(consistent_[at]);
  Thread& self = threads_state_[thread];
  self.now.newest[at] = self.acquired.newest[at] = index;
  made.view.join(release ? self.now : self.released);
  made.view.newest[at] = index;
  stores_.insert(stores_.begin() + begin_[at] + static_cast<std::ptrdiff_t>(place), made);
  for (std::size_t i = at + 1u; i <= words_->size(); ++i) ++begin_[i];
  if (stores_.size() > 200) accuse("the model: a loop that stores without end");
}

template <class F>
void Memory::for_each_view(F f) {
  for (std::size_t t = 0; t < threads_; ++t) {
    f(threads_state_[t].now);
    f(threads_state_[t].acquired);
    f(threads_state_[t].released);
  }
  f(fenced_);
  for (Store& each : stores_) f(each.view);
}

inline void Memory::settle() {
  for (Location at = 0; at < words_->size(); ++at) {
    const bool content = kind(at) == Kind::content;
    unsigned drop = count(at) - 1;
    if (content) {  // of plain words only the last value counts; known or not: two stores stand for all
      if (drop < 2) continue;
      const unsigned last = drop--;
      for_each_view([&](View& view) { view.newest[at] = view.newest[at] == last ? 1 : 0; });
    } else {
      for (std::size_t t = 0; t < threads_; ++t)
        drop = std::min<unsigned>(drop, threads_state_[t].now.newest[at]);
      if (drop == 0) continue;
      const auto by = [drop](std::uint8_t& newest) {
        newest = static_cast<std::uint8_t>(newest > drop ? newest - drop : 0);
      };
      for_each_view([&](View& view) { by(view.newest[at]); });
      by(consistent_[at]);
    }
    const auto from = stores_.begin() + begin_[at];
    stores_.erase(from, from + static_cast<std::ptrdiff_t>(drop));
    for (std::size_t i = at + 1u; i <= words_->size(); ++i)
      begin_[i] = static_cast<std::uint16_t>(begin_[i] - drop);
    Store& oldest = stored(at, 0);
    oldest.attached = oldest.plain = false;
    if (content) oldest = Store{};
  }
}

inline void Memory::fold(Digest& digest) const {
  const auto add = [&](const View& view) {
    Word word = 0;
    for (std::size_t i = 0; i < words_->size(); ++i) {
      word = word << 8 | view.newest[i];
      if ((i & 7) == 7) digest.add(std::exchange(word, 0));
    }
    digest.add(word);
    digest.add(Word{view.reads} << 32 | view.plain_reads);
  };
  for (std::size_t t = 0; t < threads_; ++t) {
    add(threads_state_[t].now);
    add(threads_state_[t].acquired);
    add(threads_state_[t].released);
  }
  add(fenced_);
  for (std::size_t i = 0; i < words_->size(); ++i) digest.add(Word{consistent_[i]} << 16 | begin_[i + 1]);
  for (const Store& each : stores_) {
    digest.add(each.value);
    digest.add((each.attached ? 1 : 0) + (each.plain ? 2 : 0));
    add(each.view);
  }
}

}  // namespace test
