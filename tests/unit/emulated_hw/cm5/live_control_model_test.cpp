// The CM-5's control network live, every interleaving of a small one: nobody passes before all have come, and nobody waits for ever
// (live_control_test.cpp has the network itself).

#include "support/explorer.hpp"

namespace live_control_model_test {

using namespace test;
using Word = std::uint64_t;

using enum std::memory_order;

enum class Fault { none, arrives_weakly, ends_weakly, does_not_look };

/// Barriers of two nodes, or of three in a tree of two levels: nodes 0 and 1 have a switch, above which the other one has node 2, too. A node
/// has data, which it writes before each other barrier; after it it reads those of the next node. The steps are the accesses of LiveControl:
/// of what a line holds, all that is not read before its number is one word, which is the data.
struct Shape {
  unsigned nodes;
  Word barriers;
  Fault fault = Fault::none;
};
constexpr unsigned most_nodes = 3;
constexpr unsigned places = 2;
constexpr unsigned above = most_nodes;  // the line of the lower switch
constexpr Location arrived(unsigned line, Word number) {
  return static_cast<Location>(2 * (line * places + number % places));
}
constexpr Location over(unsigned node, Word number) {
  return static_cast<Location>(arrived(node, number) + 1);
}
constexpr Location data(unsigned node) { return static_cast<Location>(2 * places * (above + 1) + node); }

class ModelNode {
 public:
  void step(Access& access, unsigned self, const Shape& shape, const ModelNode* all) {
    const bool is_weak = shape.fault == Fault::arrives_weakly;
    switch (at_) {
      case compute:
        access.write(data(self), number_);
        line_ = self;
        at_ = arrive;
        break;
      case arrive:  // LiveControl::publish, also into the line above
        access.store(arrived(line_, number_), number_, is_weak ? release : seq_cst);
        at_ = shape.fault == Fault::does_not_look ? wait : gather;
        break;
      case gather: {  // LiveControl::gather: the sibling
        const unsigned sibling = line_ < 2 ? 1 - line_ : 2 + above - line_;
        const bool has_come = access.load(arrived(sibling, number_), is_weak ? acquire : seq_cst) == number_;
        const bool is_last = line_ >= 2 || shape.nodes == 2;
        at_ = !has_come ? wait : is_last ? finish : arrive;
        if (at_ == arrive) line_ = above;
        break;
      }
      case finish:  // LiveControl::conclude
        access.store(over(to_tell_, number_), number_, shape.fault == Fault::ends_weakly ? relaxed : seq_cst);
        if (++to_tell_ == shape.nodes) at_ = wait;
        break;
      case wait:  // LiveControl::result
        if (access.load(over(self, number_), seq_cst) != number_) break;
        for (unsigned node = 0; node < shape.nodes; ++node) {
          if (all[node].number_ < number_) access.fail("passed before all have come");
        }
        at_ = read;
        break;
      case read:
        if (number_ % 2 != 0 && access.read(data((self + 1) % shape.nodes)) != number_)
          access.fail("the wrong data");
        ++number_;
        line_ = self;
        to_tell_ = 0;
        at_ = number_ % 2 == 0 ? arrive : compute;  // nobody writes what others may still read
        break;
    }
  }
  [[nodiscard]] bool has_ended(const Shape& shape) const { return number_ > shape.barriers; }
  void fold(test::Digest& digest) const { digest.add(at_ | line_ << 4 | to_tell_ << 8 | number_ << 12); }

 private:
  enum At : unsigned { compute, arrive, gather, finish, wait, read };
  At at_ = compute;
  Word number_ = 1;
  unsigned line_ = 0, to_tell_ = 0;
};

Verdict explore_control(const Shape& shape) {
  std::vector<Memory::Declaration> words;
  for (unsigned line = 0; line <= above; ++line) {
    for (unsigned place = 0; place < places; ++place) {
      const std::string of = " " + std::to_string(line) + " " + std::to_string(place);
      words.push_back({"arrived" + of});
      words.push_back({"over" + of});
    }
  }
  for (unsigned node = 0; node < most_nodes; ++node)
    words.push_back({"data " + std::to_string(node), Memory::Kind::content});
  return explore(test::AlikeNodes<ModelNode, Shape, most_nodes>(shape), Memory(shape.nodes, words));
}

TEST(Cm5LiveControlModel, LetsAllThroughWhenAllHaveCome) {
  expect_holds(explore_control({3, 1}));
  expect_holds(explore_control({2, 5}));
}

TEST(Cm5LiveControlModel, FaultsAreFoundOut) {
  expect_refuted(explore_control({3, 1, Fault::arrives_weakly}), "no good end");
  expect_refuted(explore_control({3, 1, Fault::ends_weakly}), "race");
  expect_refuted(explore_control({3, 1, Fault::does_not_look}), "no good end");
}

}  // namespace live_control_model_test
