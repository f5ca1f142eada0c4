// Interrupts of a program that is inside malloc, or in the middle of floating-point work: what the library does in an
// interrupt must not enter malloc, and what the program computes must not change.
#include "support/job.hpp"

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

#include <am/multicast.hpp>

#include <cfenv>
#include <cmath>

#include "process/own_malloc.hpp"
#include "support/patterns.hpp"

namespace {

/// While it is set this process, whose node only computes, must not enter malloc: as if it were inside all the time.
volatile bool inside_malloc = false;

void malloc_begins(const char* function) noexcept {
  if (!inside_malloc) return;
  inside_malloc = false;
  static constexpr char says[] = "[  FAILED  ] an interrupt enters ";
  if (write(2, says, sizeof says - 1) < 0 || write(2, function, std::strlen(function)) < 0 ||
      write(2, "\n", 1) < 0)
    std::abort();
  std::abort();
}

using namespace test;

/// Node 1's, whose handlers make the library do everything that takes memory. What both levels change, or the computation
/// reads meanwhile, is atomic.
struct Computing {
  std::atomic<std::uint64_t> came{0};
  std::uint64_t posts = 0;
  std::atomic<std::uint64_t> all{0};
  std::atomic<std::uint64_t> wrong{0};
  am::TimeletId timelet = 0;

  /// Handlers compute, too, in their own way of rounding.
  void compute() {
    const int rounding = std::fegetround();
    std::fesetround(FE_TOWARDZERO);
    volatile long double x = 1.0L / 3.0L;
    volatile double y = std::sqrt(static_cast<double>(came));
    volatile double worked = static_cast<double>(x) * y;
    static_cast<void>(worked);
    std::fesetround(rounding);
    ++all;
  }
  void touch(am::Request& request) {
    ++came;
    if (came % 8 == 0) request.post([](am::Node& node) { ++node.state<Computing>().posts; });
    if (came % 8 == 1) {
      if (timelet != 0 && came % 16 == 1) request.node().cancel_timelet(timelet);
      timelet = request.node().on_timelet(request.node().count() + 100'000,
                                          [](am::LowEvent& event) { event.state<Computing>().compute(); });
    }
    if (came % 8 == 2) request.node().on_outlet([](am::LowEvent& event) { event.node().on_outlet({}); });
    compute();
  }
  void bring(am::Request&, am::Payload payload) {
    for (std::size_t i = 0; i < payload.size(); i += 61) wrong += payload.data()[i] != pattern(i, 0) ? 1 : 0;
    compute();
  }
  /// Sends back what it got: a long payload by try_ leaves a copy behind.
  void echo(am::Request& request, am::Payload payload);
  void high(am::Reply&) { compute(); }
  void bring_high(am::Reply&, am::Payload) { compute(); }
};
struct Disturbing {
  std::atomic<bool> ended{false};
  std::uint64_t echoes = 0;
  void end(am::Request&) { ended = true; }
  void take(am::Request&) {}
  void echoed(am::Reply&, am::Payload) { ++echoes; }
};
void Computing::echo(am::Request& request, am::Payload payload) {
  static_cast<void>(request.try_reply<&Disturbing::echoed>(payload));
  compute();
}

void pass_on(am::Request&, am::Payload) {}

/// Nodes 0 and 2 send everything there is until node 1 has computed. Its multicasts go through node 1 to node 2.
void disturbed(const std::function<void(am::Node&, Computing&)>& compute) {
  Disturbing disturbing;  // they live longer than the nodes: messages come until these have left
  Computing computing;
  test::run_job({test::Nodes::processes, am::Dispatch::interrupt}, 3, [&](am::Node& node) {
    node.id() == 1 ? node.attach(computing) : node.attach(disturbing);
    node.barrier();
    if (node.id() == 1) {
      compute(node, computing);
      check_equal(computing.wrong.load(), 0u, "wrong bytes of payloads");
      for (const am::NodeId other : {am::NodeId{0}, am::NodeId{2}})
        check(node.request<&Disturbing::end>(other) == am::Status::ok, "request");
    } else {
      const std::vector<std::byte> bytes = patterned(20'000, 0);
      test::Random random(test::mix(test::seed(), node.id()));
      while (!disturbing.ended) {
        const am::Payload payload(bytes.data(), random.below(random.one_in(4) ? bytes.size() : 2000));
        switch (random.below(7)) {
          case 0:
            static_cast<void>(node.try_request<&Computing::bring>(1, payload));
            break;
          case 1:
            static_cast<void>(node.try_request<&Computing::echo>(1, payload));
            break;
          case 2:
            static_cast<void>(node.try_reply_to<&Computing::bring_high>(1, payload));
            break;
          case 3:
            static_cast<void>(node.try_reply_to<&Computing::high>(1));
            break;
          case 4:
            static_cast<void>(node.try_multicast<pass_on>(am::Group{1, 2}, payload));
            break;
          default:
            static_cast<void>(node.try_request<&Computing::touch>(1));
        }
        const am::Count next = node.count() + random.below(20'000);
        do node.poll();
        while (node.count() < next);
      }
    }
    node.barrier();
  });
}

TEST(InterruptedMalloc, IsNotEntered) {
  disturbed([](am::Node&, Computing& computing) {
    inside_malloc = true;
    while (computing.all < rounds(5000)) {
    }
    inside_malloc = false;
    check(computing.came > 0, "came");
  });
}

// Blocks that hold a pattern: whoever allocates in the middle of malloc, or frees there, breaks one sooner or later.
TEST(InterruptedMalloc, KeepsItsBlocks) {
  const test::Environment perturb("MALLOC_PERTURB_", "170");
  disturbed([](am::Node&, Computing& computing) {
    test::Random random(test::seed());
    struct Block {
      std::unique_ptr<unsigned char[]> bytes;
      std::size_t size = 0;
      unsigned char pattern = 0;
    };
    std::vector<Block> blocks(200);
    for (std::uint64_t i = 0; computing.all < rounds(5000); ++i) {
      Block& block = blocks[random.below(blocks.size())];
      for (std::size_t at = 0; at < block.size; ++at)
        check(block.bytes[at] == block.pattern, "a block changed");
      block.size = random.below(random.one_in(50) ? 300'000 : 2000);
      block.pattern = static_cast<unsigned char>(i);
      block.bytes = std::make_unique<unsigned char[]>(block.size);
      std::memset(block.bytes.get(), block.pattern, block.size);
    }
  });
}

/// A result that depends on every rounding on the way, in SSE and in x87 registers.
template <class F>
F chaotic(F start) {
  F x = start;
  F sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    x = static_cast<F>(3.9L) * x * (F{1} - x);
    sum += std::sqrt(x) / F{7};
  }
  return sum;
}

TEST(InterruptedArithmetic, IsTheSame) {
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    const auto single = chaotic(0.3F);
    const auto twice = chaotic(0.3);
    const auto extended = chaotic(0.3L);
    std::fesetround(FE_TONEAREST);
    disturbed([=](am::Node&, Computing& computing) {
      std::fesetround(rounding);
      while (computing.all < rounds(2000)) {
        check(std::fegetround() == rounding, "the way of rounding");
        check(chaotic(0.3F) == single && chaotic(0.3) == twice && chaotic(0.3L) == extended,
              "another result");
      }
      std::fesetround(FE_TONEAREST);
    });
  }
}

}  // namespace

#endif
