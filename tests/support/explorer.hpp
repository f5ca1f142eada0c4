// Tries every interleaving of a few small threads over a weak memory (weak_memory.hpp says which reorderings that
// covers, and which not), with every answer that each load may get, and says whether a property holds in all of them.
//
// A model is a value that holds the local state of all threads. It has
//   bool runs(unsigned thread) const      whether the thread has a next step
//   void step(unsigned thread, Access&)   that step; deterministic but for what Access answers
//   bool good_end() const                 whether everything that was to happen has happened
//   void fold(Digest&) const              all of its state, for telling two models apart
//
// Two things are refuted, with the shortest run that leads there:
//   - a failure that a step reports, or a data race
//   - a state that no good end can be reached from any more: a thread that sleeps for ever, a packet that is lost,
//     two threads that keep each other busy. (Any good end: a run that could go on for ever for want of luck, because a
//     load always gets old values, is not refuted.)
//
// Breadth first over the states, told apart by 128 bits of hash. No randomness: the same states in every run.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <iostream>
#include <string_view>
#include <unordered_map>

#include "support/model_access.hpp"

namespace test {

struct Verdict {
  bool holds = false;
  std::string why;  // how it fails, step by step
  std::size_t states = 0;
  std::size_t transitions = 0;

  friend std::ostream& operator<<(std::ostream& out, const Verdict& v) {
    return out << v.states << " states, " << v.transitions << " transitions" << (v.holds ? "" : ": ")
               << v.why;
  }
};

/// A model of nodes that all do the same: so many as its shape has, of `most`. A node has has_ended(shape),
/// step(access, its number, shape, all) and fold(digest).
template <class Node, class Shape, unsigned most>
class AlikeNodes {
 public:
  explicit AlikeNodes(const Shape& shape) : shape_(shape) {}
  [[nodiscard]] bool runs(unsigned thread) const { return !nodes_[thread].has_ended(shape_); }
  [[nodiscard]] bool good_end() const {
    for (unsigned node = 0; node < shape_.nodes; ++node) {
      if (runs(node)) return false;
    }
    return true;
  }
  void step(unsigned thread, Access& access) { nodes_[thread].step(access, thread, shape_, nodes_); }
  void fold(Digest& digest) const {
    for (const Node& node : nodes_) node.fold(digest);
  }

 private:
  Shape shape_;
  Node nodes_[most];
};

template <class Model>
class Explorer {
 public:
  /// More states than `most` are a fault of the model.
  Explorer(const Model& model, const Memory& memory, std::size_t most = 2'000'000)
      : start_{model, memory, {}}, most_(most) {}

  Verdict run() {
    meet(start_, 0, Step{});
    while (!frontier_.empty() && verdict_.why.empty()) {
      const State from = std::move(frontier_.front());
      frontier_.pop_front();
      expand(from);
      ++expanded_;
    }
    if (verdict_.why.empty() && several_ && heavy_)
      verdict_.why = "the model: a heavy fence and steps of several accesses";
    if (verdict_.why.empty()) look_for_doomed();
    verdict_.states = met_.size();
    verdict_.holds = verdict_.why.empty();
    return verdict_;
  }

 private:
  struct State {
    Model model;
    Memory memory;
    Kernel kernel;
  };
  /// How a state was met first: what `thread` did, or the fence of `fencer` that passed it.
  struct Step {
    std::uint8_t thread = 0;
    std::uint8_t fencer = none;
    std::string choices;
  };
  struct Origin {
    std::uint32_t parent;
    Step step;
  };
  struct Hash {
    std::size_t operator()(const Digest& digest) const noexcept { return digest.a; }
  };
  static constexpr std::uint8_t none = 0xff;

  [[nodiscard]] bool may_step(const State& state, unsigned thread) const {
    return state.kernel.fencing[thread] == 0 && (state.kernel.sleepers >> thread & 1) == 0 &&
           state.model.runs(thread);
  }

  void expand(const State& from) {
    const auto threads = static_cast<unsigned>(from.memory.threads());
    for (unsigned t = 0; t < threads && verdict_.why.empty(); ++t) {
      for (unsigned other = 0; other < threads; ++other) {
        if ((from.kernel.fencing[t] >> other & 1) == 0) continue;
        State to = from;
        pass_fence(to, t, other, nullptr);
        arrive(std::move(to), {static_cast<std::uint8_t>(other), static_cast<std::uint8_t>(t), {}});
      }
      if (!may_step(from, t)) continue;
      Choices choices;
      do {
        State to = from;
        const char* fault = do_step(to, t, choices, nullptr);
        Step step{static_cast<std::uint8_t>(t), none, choices.str()};
        if (fault != nullptr) {
          verdict_.why = fault + trace(static_cast<std::uint32_t>(expanded_), &step);
          return;
        }
        arrive(std::move(to), std::move(step));
      } while (choices.next());
    }
  }

  const char* do_step(State& state, unsigned thread, Choices& choices, std::string* trace) {
    Access access(state.memory, state.kernel, thread, choices, trace);
    state.model.step(thread, access);
    several_ = several_ || access.several();
    heavy_ = heavy_ || access.heavy();
    return access.fault();
  }

  static void pass_fence(State& state, unsigned fencer, unsigned passed, std::string* trace) {
    std::uint8_t& left = state.kernel.fencing[fencer];
    left = static_cast<std::uint8_t>(left & ~(1u << passed));
    state.memory.full_fence(passed);
    if (left == 0) state.memory.full_fence(fencer);
    if (trace == nullptr) return;
    *trace += "\n  " + std::to_string(passed) + ": passes the heavy fence of " + std::to_string(fencer);
  }

  void arrive(State&& to, Step step) {
    ++verdict_.transitions;
    to.memory.settle();
    meet(std::move(to), static_cast<std::uint32_t>(expanded_), std::move(step));
  }

  /// A transition to a state, which may be a new one.
  void meet(State state, std::uint32_t parent, Step step) {
    Digest digest;
    state.model.fold(digest);
    state.memory.fold(digest);
    digest.add(state.kernel.sleepers);
    for (const std::uint8_t fencing : state.kernel.fencing) digest.add(fencing);
    const auto [at, is_new] = met_.try_emplace(digest, static_cast<std::uint32_t>(met_.size()));
    if (at->second != parent) edges_.emplace_back(at->second, parent);
    if (!is_new) return;
    origins_.push_back({parent, std::move(step)});
    good_.push_back(state.model.good_end());
    if (met_.size() > most_) verdict_.why = "the model: too many states";
    frontier_.push_back(std::move(state));
  }

  /// Goes backwards from the good ends: what it does not come to is lost.
  void look_for_doomed() {
    std::vector<bool> saved = good_;
    std::vector<bool> is_final(saved.size(), true);
    std::vector<std::vector<std::uint32_t>> before(saved.size());
    for (const auto& [to, from] : edges_) {
      before[to].push_back(from);
      is_final[from] = false;
    }
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < saved.size(); ++i) {
      if (saved[i]) open.push_back(i);
    }
    while (!open.empty()) {
      const std::uint32_t state = open.back();
      open.pop_back();
      for (const std::uint32_t from : before[state]) {
        if (saved[from]) continue;
        saved[from] = true;
        open.push_back(from);
      }
    }
    for (const bool only_final : {true, false}) {  // where all stands still is the clearest
      for (std::uint32_t i = 0; i < saved.size(); ++i) {
        if (saved[i] || (only_final && !is_final[i])) continue;
        verdict_.why = "no good end can be reached after" + trace(i, nullptr);
        return;
      }
    }
  }

  /// The run that leads to a state, and one step more.
  std::string trace(std::uint32_t state, const Step* last) {
    std::vector<const Step*> steps;
    if (last != nullptr) steps.push_back(last);
    for (; state != 0; state = origins_[state].parent) steps.push_back(&origins_[state].step);
    std::string text;
    State now = start_;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      if ((*step)->fencer != none) {
        pass_fence(now, (*step)->fencer, (*step)->thread, &text);
      } else {
        Choices choices((*step)->choices);
        do_step(now, (*step)->thread, choices, &text);
      }
      now.memory.settle();
    }
    return text;
  }

  const State start_;
  const std::size_t most_;
  Verdict verdict_;
  std::deque<State> frontier_;
  std::unordered_map<Digest, std::uint32_t, Hash> met_;  // to the number of the state
  std::vector<Origin> origins_;                          // by number
  std::vector<bool> good_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;  // to, from
  std::size_t expanded_ = 0;
  bool several_ = false;
  bool heavy_ = false;
};

/// What the explorer finds out about a model.
template <class Model>
Verdict explore(const Model& model, const Memory& memory, std::size_t most = 2'000'000) {
  return Explorer<Model>(model, memory, most).run();
}

/// As expectations of a test, which tells what was explored.
inline void expect_holds(const Verdict& verdict) {
  std::cout << verdict << "\n";
  EXPECT_TRUE(verdict.holds) << verdict;
}
inline void expect_refuted(const Verdict& verdict, std::string_view how) {
  EXPECT_NE(verdict.why.find(how), std::string::npos) << verdict;
}

}  // namespace test
