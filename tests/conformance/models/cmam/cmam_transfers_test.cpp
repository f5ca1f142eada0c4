// Transfers of CMAM and CMAML into memory (<am/cmam.h>): CMAM_xfer into segments, CMAML_scopy into receive ports.
#include <am/cmam.h>

#include "support/cmam.hpp"
#include "support/patterns.hpp"

namespace cmam_transfers_test {

using namespace test;
using CmamTransfers = test::OnCmam<test::OnEverySubstrate>;

/// A segment or a port.
void segment_is(int number) {
  mine().segment = number;
  mine().second = 1;
}
void transfer_is_over(void* info, void* base) {
  mine().info = info;
  mine().base = base;
  count_one();
}

int exchange_segments(void* base, int bytes, void* info) {
  const int segment = CMAM_open_segment(base, bytes, code(transfer_is_over), info);
  check(segment >= 0, "a segment is free");
  CMAM_4(next(), segment_is, segment);
  CMAM_wait(&mine().second, 1);
  return segment;
}

TEST_P(CmamTransfers, ATransferFillsASegmentAndEnds) {
  run_cmam(2, [] {
    test::Random random(test::seed() + static_cast<unsigned>(me()));
    const std::size_t most = 700'000 / test::rounds(4);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{16}, std::size_t{4099}, most}) {
      std::vector<std::byte> into(bytes + 1, std::byte{0xee});
      std::vector<std::byte> from = patterned(bytes, static_cast<int>(bytes));
      exchange_segments(into.data(), static_cast<int>(bytes), &random);
      // In parts, the last ones first: any order fills it.
      for (std::size_t end = bytes; end > 0;) {
        const std::size_t part = 1 + random.below(end);
        CMAM_xfer(next(), mine().segment + static_cast<int>(end - part), from.data() + end - part,
                  static_cast<int>(part));
        end -= part;
      }
      CMAM_wait(&mine().flag, 1);
      check(std::equal(from.begin(), from.end(), into.begin()), "every byte in its place");
      check(into[bytes] == std::byte{0xee}, "none behind it");
      check(mine().info == &random && mine().base == into.data(), "the end function gets info and base");
      CMMD_sync_with_nodes();
    }
    exchange_segments(nullptr, 0, nullptr);
    CMAM_xfer(next(), mine().segment, nullptr, 0);
    CMAM_wait(&mine().flag, 1);  // an empty one ends an empty segment
  });
}

TEST_P(CmamTransfers, SegmentsCountShortenAndGo) {
  run_cmam(2, [] {
    std::array<char, 64> into{};
    std::array<char, 64> from{};
    from.fill('f');
    const int segment = exchange_segments(into.data(), 64, nullptr);
    check_equal(CMAM_query_segment(segment), 64, "awaits all");
    CMMD_sync_with_nodes();
    CMAM_xfer(next(), mine().segment, from.data(), 24);
    CMMD_sync_with_nodes();
    while (CMAM_query_segment(segment) != 40) CMAM_poll();
    CMAM_shorten_segment(segment, 30);
    check_equal(CMAM_query_segment(segment), 10, "shorter by 30");
    CMMD_sync_with_nodes();
    CMAM_xfer(next(), mine().segment + 24, from.data(), 10);
    CMAM_wait(&mine().flag, 1);
    check_equal(CMAM_query_segment(segment), 0, "closed at zero");
    check_equal(std::count(into.begin(), into.end(), 'f'), 34, "no more than was sent");
    const int killed = CMAM_open_segment(into.data(), 64, nullptr, nullptr);
    check(killed != segment, "a number is not given out again at once");
    CMAM_kill_segment(killed);
    const int last = CMAM_open_segment(into.data(), 8, code(transfer_is_over), nullptr);
    CMAM_shorten_segment(last, 8);
    check_equal(static_cast<int>(mine().flag), 1, "what is shortened to nothing ends");
  });
}

TEST_P(CmamTransfers, SegmentsAreCounted) {
  run_cmam(1, [] {
    std::vector<int> open;
    char byte = 0;
    for (int segment = 0; segment >= 0;) {
      segment = CMAM_open_segment(&byte, 1, nullptr, nullptr);
      if (segment >= 0) open.push_back(segment);
    }
    check_equal(open.size(), std::size_t{256}, "as many as there are; then -1");
    for (const int segment : open) CMAM_kill_segment(segment);
    check_equal(CMAM_open_segment(&byte, -1, nullptr, nullptr), -1, "no size");
    check_equal(CMAM_open_segment(nullptr, 8, nullptr, nullptr), -1, "no memory");
    const int large = CMAM_open_segment(&byte, 0x7fffff00, nullptr, nullptr);
    check(large >= 0, "nearly all the numbers at once");
    check_equal(CMAM_open_segment(&byte, 0x1000, nullptr, nullptr), -1, "then no room for another");
    CMAM_kill_segment(large);
  });
}

struct Block {
  std::array<char, 3000> bytes;
};
std::array<Block, 8> blocks;

void send_block(int to, int segment) {
  CMAM_reply_xfer(to, segment, blocks[static_cast<std::size_t>(me())].bytes.data(), 3000);
}
void send_block_by_xfer(int to, int segment) {
  CMAM_xfer(to, segment, blocks[static_cast<std::size_t>(me())].bytes.data(), 3000);
}
void ended_and_sends(void* info, void*) {
  const int to = static_cast<int>(reinterpret_cast<am_word>(info));
  CMAML_rpc(to, count_one);
  CMAM_4(to, count_one);
  CMAML_reply(to, count_one);
  mine().second = 1;
}

/// Transfers out of a request handler arrive as replies; their end may send all the same.
TEST_P(CmamTransfers, AHandlerMayTransferAndAnEndMaySend) {
  run_cmam(2, [] {
    for (const auto handler : {send_block, send_block_by_xfer}) {
      Block into{};
      blocks[static_cast<std::size_t>(me())].bytes.fill(static_cast<char>('a' + me()));
      CMMD_sync_with_nodes();
      const am_word who = next();
      const int segment =
          CMAM_open_segment(into.bytes.data(), 3000, code(ended_and_sends), reinterpret_cast<void*>(who));
      CMAM_request_4(next(), handler, me(), segment);
      CMAM_wait(&mine().second, 1);
      CMAM_wait(&mine().flag, 3);
      check_equal(std::count(into.bytes.begin(), into.bytes.end(), 'a' + next()), 3000, "all of the block");
      CMMD_sync_with_nodes();
    }
  });
}

/// By way of a node itself; the source may be written to while parts are still to be sent.
constexpr std::initializer_list<int> sizes_of_copies = {64, 3000, 100'000, 700'000};

TEST_P(CmamTransfers, ATransferToItselfMayOverlap) {
  run_cmam(1, [] {
    const auto copy = [](std::byte* to, std::byte* from, int bytes) {
      const int segment = CMAM_open_segment(to, bytes, code(transfer_is_over), nullptr);
      CMAM_xfer(me(), segment, from, bytes);
      CMAM_wait(&mine().flag, 1);
    };
    check_copies(sizes_of_copies, copy, "a transfer");
  });
}

void port_is_full(int port, void* argument) {
  mine().info = argument;
  check_equal(CMAML_free_rport(port), 1, "the handler frees its port");
  count_one();
}
int open_port(void* to, int bytes) {
  const int port = CMAML_allocate_rport();
  CMAML_set_rport_addr(port, to);
  CMAML_set_rport_byte_counter(port, bytes);
  CMAML_set_rport_handler(port, code(port_is_full));
  return port;
}
/// Panda's protocol: the port is asked for, and comes back as a reply.
void give_port(int to, int bytes) {
  static std::array<std::array<char, 70'000>, 8> buffers;
  mine().base = buffers[static_cast<std::size_t>(me())].data();
  const int port = open_port(mine().base, bytes);
  CMAML_set_rport_total_nbytes(port, bytes);
  CMAML_set_rport_handler_arg2(port, &mine());
  CMAML_reply(to, segment_is, port);
}
void was_sent(void* counter) { ++*static_cast<int*>(counter); }

TEST_P(CmamTransfers, ScopiesFillAPort) {
  run_cmam(2, [] {
    std::vector<std::byte> from = patterned(70'000, me());
    CMAML_request(next(), give_port, me(), 70'000);
    CMAM_wait(&mine().second, 1);
    int sent = 0;
    for (const int offset : {35'000, 0}) {
      check_equal(
          CMAML_scopy(next(), mine().segment, 4, offset, from.data() + offset, 35'000, code(was_sent), &sent),
          1, "TRUE");
    }
    check_equal(sent, 2, "the sender's handler ran for each");
    CMAM_wait(&mine().flag, 1);
    check(mine().info == &mine(), "the handler's second argument");
    check(is_patterned(mine().base, 70'000, next()), "every byte");
    check_equal(CMAML_number_of_free_rports(), 128, "it is free");
  });
}

TEST_P(CmamTransfers, AScopyToItselfMayOverlap) {
  run_cmam(1, [] {
    const auto copy = [](std::byte* to, std::byte* from, int bytes) {
      CMAML_scopy(me(), open_port(to, bytes), 0, 0, from, bytes, nullptr, nullptr);
      CMAM_wait(&mine().flag, 1);
    };
    check_copies(sizes_of_copies, copy, "a scopy");
  });
}

void send_to_port(int to, int port) {
  CMAML_scopy(to, port, 0, 0, &blocks[static_cast<std::size_t>(me())], 3000, nullptr, nullptr);
}

/// Olden's "please send me this block", with a stride.
TEST_P(CmamTransfers, AHandlerMayScopyAndElementsGoApart) {
  run_cmam(2, [] {
    blocks[static_cast<std::size_t>(me())].bytes.fill('s');
    std::vector<char> into(6000, '.');
    const int port = open_port(into.data(), 3000);
    CMAML_set_rport_esize(port, 100);
    CMAML_set_rport_estride(port, 200);
    CMAML_set_rport_ecount(port, 30);
    CMMD_sync_with_nodes();
    CMAML_request(next(), send_to_port, me(), port);
    CMAM_wait(&mine().flag, 1);
    for (std::size_t i = 0; i < into.size(); ++i)
      check_equal(into[i], i / 100 % 2 == 0 ? 's' : '.', "each second stretch of a hundred");
  });
}

TEST_P(CmamTransfers, PortsAreCountedAndRemember) {
  run_cmam(1, [] {
    check_equal(CMAML_number_of_rports(), 128, "as many as a CM-5 had");
    check_equal(CMAML_allocate_this_rport(5), 5, "a chosen one");
    check_equal(CMAML_allocate_this_rport(5), -1, "once");
    check_equal(CMAML_allocate_this_rport(128), -1, "there is none");
    check_equal(CMAML_allocate_this_rport(-1), -1, "there is none");
    for (int i = 0; i < 127; ++i) check(CMAML_allocate_rport() >= 0, "one is free");
    check_equal(CMAML_allocate_rport(), -1, "none is free");
    CMAML_set_rport_addr(5, &places);
    CMAML_set_rport_byte_counter(5, 11);
    CMAML_set_rport_total_nbytes(5, 12);
    CMAML_set_rport_handler(5, code(port_is_full));
    CMAML_set_rport_handler_arg2(5, &blocks);
    CMAML_set_rport_esize(5, 13);
    CMAML_set_rport_estride(5, 14);
    CMAML_set_rport_ecount(5, 15);
    check(CMAML_get_rport_addr(5) == &places && CMAML_get_rport_handler_arg2(5) == &blocks, "pointers");
    check_equal(CMAML_get_rport_byte_counter(5) * 100 + CMAML_get_rport_total_nbytes(5), 1112, "counters");
    check_equal(
        CMAML_get_rport_esize(5) * 10000 + CMAML_get_rport_estride(5) * 100 + CMAML_get_rport_ecount(5),
        131415, "elements");
    check(CMAML_get_rport_handler(5) == reinterpret_cast<am_code>(port_is_full), "the handler");
    for (int port = 0; port < 128; ++port) check_equal(CMAML_free_rport(port), 1, "was allocated");
    check_equal(CMAML_free_rport(5), 0, "is free already");
    check_equal(CMAML_number_of_free_rports(), 128, "all of them");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, CmamTransfers, test::cells_of<CmamTransfers>(), test::name_of);

}  // namespace cmam_transfers_test
