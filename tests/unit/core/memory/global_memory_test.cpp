// What the global memory of one node says to wrong addresses, and how it gives out its own segment. Traffic between
// nodes is tested in tests/conformance/global_memory_test.cpp.
#include "core/memory/global_memory.hpp"

#include <gtest/gtest.h>
#include <am/error.hpp>
#include <am/global.hpp>
#include <am/start.hpp>

#include "host/layout.hpp"
#include "support/check.hpp"

namespace am::global_memory_test {

using namespace test;

constexpr std::size_t page = 4096;
const Options small{.segment_bytes = page};

void on_one_node(const std::function<void(Node&)>& body) { run_threads(1, body, small); }

TEST(GlobalMemory, RefusesASegmentThatNoAddressCanReach) {
  const Options too_large{.segment_bytes = host::stride + 1};
  EXPECT_THROW(run_threads(
                   1, [](Node&) {}, too_large),
               Error);
}

TEST(GlobalMemory, TurnsItsOwnPlacesIntoGlobalPointersAndBack) {
  on_one_node([](Node& node) {
    auto* words = reinterpret_cast<std::uint64_t*>(segment(node).data());
    const GlobalPtr<std::uint64_t> p = global(node, words + 3);
    check_equal(p.node(), 0u, "node");
    check_equal(p.offset(), 24u, "offset");
    check(p.local() == words + 3 && p.local(node) == words + 3, "local() is the way back");
    std::uint64_t elsewhere = 0;
    check_throws<Error>([&] { static_cast<void>(global(node, &elsewhere)); }, "not in this node's segment");
    check_throws<Error>([&] { static_cast<void>(global(node, words + page / 8)); },
                        "not in this node's segment");
    struct Big {
      std::byte bytes[page + 1];
    };
    check_throws<Error>([&] { static_cast<void>(global(node, reinterpret_cast<Big*>(words))); },
                        "not in this node's");
  });
}

TEST(GlobalMemory, LetsTheLastByteBeTouchedAndNotTheNext) {
  on_one_node([](Node& node) {
    const GlobalPtr<std::byte> last(0, page - 1);
    put(node, last, std::byte{7});
    check(get(node, last) == std::byte{7}, "the last byte");
    check(segment(node).back() == std::byte{7}, "is where it belongs");
    const GlobalPtr<std::uint64_t> last_word(0, page - 8);
    put(node, last_word, 5);
    check_equal(get(node, last_word), 5u, "the last word");
    check_equal(fetch_add(node, (last - 3).as<std::uint32_t>(), 0u), 0u, "4 bytes are aligned there");
    check_throws<Error>([&] { fetch_add(node, (last - 11).as<std::uint64_t>(), 1); },
                        "is not aligned to the 8 bytes");

    const std::string segment_and_nodes = "not in the segment of node 0, which has 4096 bytes";
    check_throws<Error>([&] { put(node, last + 1, std::byte{0}); }, segment_and_nodes);
    check_throws<Error>([&] { put(node, last_word + 1, 0); }, segment_and_nodes);
    check_throws<Error>([&] { put(node, (last - 6).as<std::uint64_t>(), 0); }, segment_and_nodes);
    check_throws<Error>([&] { static_cast<void>(get(node, last_word - 512)); }, segment_and_nodes);
    check_throws<Error>([&] { static_cast<void>((last + 1).local()); }, segment_and_nodes);
    check_equal(get(node, last_word), 5u, "the last word after the errors");
  });
}

TEST(GlobalMemory, IsNotFooledBySizesThatWrapAround) {
  on_one_node([](Node& node) {
    const GlobalPtr<std::uint64_t> p(0, 8);
    std::uint64_t value = 0;
    const auto values_of = [&](std::size_t count) { return std::span<const std::uint64_t>(&value, count); };
    for (const std::size_t count :
         {SIZE_MAX / 8 + 1, SIZE_MAX / 8 + 2, SIZE_MAX, SIZE_MAX / 8, std::size_t{512}}) {
      check_throws<Error>([&] { put(node, p, values_of(count)); }, "are not in the segment");
      check_throws<Error>([&] { get(node, p, std::span<std::uint64_t>(&value, count)); },
                          "are not in the segment");
    }
    check_throws<Error>([&] { static_cast<void>(allocate<std::uint64_t>(node, SIZE_MAX / 8 + 2)); },
                        "(ask for less: a segment has at most 1TiB)");
  });
}

TEST(GlobalMemory, TakesEmptyRangesAsNothing) {
  on_one_node([](Node& node) {
    Counter counter;
    put(node, GlobalPtr<int>(), std::span<const int>());
    get(node, GlobalPtr<int>(5, 7), std::span<int>());
    begin_put(node, GlobalPtr<int>(), std::span<const int>(), counter);
    begin_get(node, GlobalPtr<int>(), std::span<int>(), counter);
    check_equal(counter.begun(), 2u, "operations begun");
    wait(node, counter);
  });
}

TEST(GlobalMemory, GivesClearedMemoryAlsoTheSecondTime) {
  on_one_node([](Node& node) {
    for (int round = 0; round < 3; ++round) {
      const std::array blocks{allocate<std::uint64_t>(node, 100),
                              allocate_symmetric<std::uint64_t>(node, 100)};
      for (const GlobalPtr<std::uint64_t> block : blocks) {
        for (int i = 0; i < 100; ++i) {
          check_equal(get(node, block + i), 0u, "a fresh value");
          put(node, block + i, ~std::uint64_t{0});
        }
      }
      for (const GlobalPtr<std::uint64_t> block : blocks) deallocate(node, block);
    }
  });
}

TEST(GlobalMemory, SaysWhenThereIsNoRoom) {
  on_one_node([](Node& node) {
    const auto all = allocate<std::byte>(node, page);
    check_throws<Error>(
        [&] { static_cast<void>(allocate<int>(node)); },
        "no room for 4 bytes: the segment has 4096, the largest free piece 0 (set AM_SEGMENT=8KiB, or");
    check_throws<Error>([&] { static_cast<void>(allocate_symmetric<int>(node)); },
                        "node 0 has no room for 4 bytes: its segment has 4096 (set AM_SEGMENT=8KiB, or am::");
    deallocate(node, all);
    deallocate(node, allocate_symmetric<std::byte>(node, page));
  });
}

TEST(GlobalMemory, TakesBackOnlyWhatItGave) {
  on_one_node([](Node& node) {
    const auto p = allocate<int>(node, 100);
    deallocate(node, GlobalPtr<int>());
    check_throws<Error>([&] { deallocate(node, p + 16); }, "no block of this node begins");
    check_throws<Error>([&] { deallocate(node, p.on(1)); }, "no block of this node begins");
    deallocate(node, p);
    check_throws<Error>([&] { deallocate(node, p); }, "no block of this node begins");
  });
}

TEST(GlobalMemory, WaitsForNothingThatWasNeverBegun) {
  on_one_node([](Node& node) {
    Counter counter;
    wait(node, counter);
    check_throws<Error>([&] { wait(node, counter, 1); },
                        "1 completions are waited for, only 0 operations were begun");
  });
}

TEST(GlobalMemory, NeedsANodeForLocal) {
  EXPECT_THROW(static_cast<void>(GlobalPtr<int>(0, 0).local()), Error);
}

}  // namespace am::global_memory_test
