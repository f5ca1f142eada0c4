// The rules of weak_memory.hpp, which includes this file.
#pragma once

#include "support/weak_memory.hpp"

#include <stdexcept>
#include <utility>

namespace test {

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

inline unsigned Memory::readable(std::size_t thread, Location at, std::memory_order order,
                                 bool modify) const {
  unsigned number = 0;
  for (unsigned i = first(thread, at, order); i < count(at); ++i) {
    if (!modify || i + 1 == count(at) || !stored(at, i + 1).attached) ++number;
  }
  return number;
}

inline unsigned Memory::places(std::size_t thread, Location at, std::memory_order order) const {
  return readable(thread, at, order, true);  // each place lies behind a store that it might have modified
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
  unsigned i = first(thread, at, order);
  for (;; ++i) {
    if (i + 1 != count(at) && stored(at, i + 1).attached) continue;
    if (choice-- == 0) break;
  }
  insert(thread, at, i + 1, made, releases(order));
  if (order == std::memory_order_seq_cst) consistent_[at] = static_cast<std::uint8_t>(i + 1);
}

template <class F>
Word Memory::modify(std::size_t thread, Location at, std::memory_order order, unsigned choice, F f) {
  unsigned i = first(thread, at, order);
  for (;; ++i) {
    if (i + 1 != count(at) && stored(at, i + 1).attached) continue;
    if (choice-- == 0) break;
  }
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

inline void Memory::full_fence(std::size_t thread) {
  Thread& self = threads_state_[thread];
  fenced_.join(self.acquired);
  self.now = self.acquired = self.released = fenced_;
}

inline bool Memory::unknown_plain_write(std::size_t thread, Location at) const {
  for (unsigned i = threads_state_[thread].now.newest[at] + 1u; i < count(at); ++i) {
    if (stored(at, i).plain) return true;
  }
  return false;
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
    unsigned drop =
        kind(at) == Kind::content ? count(at) - 1 : 0xff;  // of plain words only the last value counts
    const bool content = kind(at) == Kind::content;
    if (!content) {
      for (std::size_t t = 0; t < threads_; ++t)
        drop = std::min<unsigned>(drop, threads_state_[t].now.newest[at]);
    }
    if (content) {  // known or not: two stores stand for all
      if (drop < 2) continue;
      const auto last = static_cast<std::uint8_t>(drop);
      for_each_view([&](View& view) { view.newest[at] = view.newest[at] == last ? 1 : 0; });
      drop -= 1;
    } else {
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
    oldest.attached = false;
    oldest.plain = false;
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
