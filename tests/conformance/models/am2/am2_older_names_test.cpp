// <am/am2.h> under older names: each is, word by word, the call that it stands for; and programs that use them.
#include <array>
#include <cstring>
#include <string_view>

#include "support/am2.hpp"

// Old sources include "am.h", "amudp.h" or "ammpi.h", and the second one again.
#include <am/compat/am2/am.h>
#include <am/compat/am2/ammpi.h>
#include <am/compat/am2/ammpi_spmd.h>
#include <am/compat/am2/amudp.h>
#include <am/compat/am2/amudp_spmd.h>

namespace am2_older_names_test {

using test::check_equal;
using test::handler;
using test::ok;
using test::Place;

// What the old name becomes, as text, is what the new one becomes: which is the call with as many words as its name says.
#define TEXT(...) std::string_view(#__VA_ARGS__)
#define EXPANDED(...) TEXT(__VA_ARGS__)
#define STANDS_FOR(old, own) \
  static_assert(EXPANDED(old) == EXPANDED(own) && EXPANDED(own).starts_with("am2_re"))

#define OLDER(n, ...)                                                                   \
  STANDS_FOR(AM_RequestMedium##n(ep, to, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__),    \
             AM_RequestI##n(ep, to, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__));        \
  STANDS_FOR(AM_RequestLong##n(ep, to, at, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__),  \
             AM_RequestXfer##n(ep, to, at, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__)); \
  STANDS_FOR(AM_ReplyMedium##n(token, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__),       \
             AM_ReplyI##n(token, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__));           \
  STANDS_FOR(AM_ReplyLong##n(token, at, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__),     \
             AM_ReplyXfer##n(token, at, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__))

OLDER(0);
OLDER(1, 1);
OLDER(2, 1, 2);
OLDER(3, 1, 2, 3);
OLDER(4, 1, 2, 3, 4);
OLDER(5, 1, 2, 3, 4, 5);
OLDER(6, 1, 2, 3, 4, 5, 6);
OLDER(7, 1, 2, 3, 4, 5, 6, 7);
OLDER(8, 1, 2, 3, 4, 5, 6, 7, 8);
OLDER(9, 1, 2, 3, 4, 5, 6, 7, 8, 9);
OLDER(10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
OLDER(11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
OLDER(12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
OLDER(13, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
OLDER(14, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
OLDER(15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
OLDER(16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
static_assert(EXPANDED(AM_Unmap) == EXPANDED(AM_UnMap));

// -- a program that uses them

enum : handler_t { medium_request = 1, long_request, reply };

thread_local int replies;
thread_local std::array<char, 32> segment;
constexpr unsigned long half = 16;

void replies_medium(void* token, const char* buf, int nbytes, int a) {
  check_equal(a, 4, "the word");
  ok(AM_ReplyMedium2(token, reply, buf, nbytes, a, 5), "AM_ReplyMedium2");
}
void replies_long(void* token, const char* buf, int nbytes, int a) {
  check_equal(a, 4, "the word");
  ok(AM_ReplyLong2(token, half, reply, buf, nbytes, a, 5), "AM_ReplyLong2");
}
void replied(void* /*token*/, const char* buf, int nbytes, int a, int b) {
  ++replies;
  check_equal(std::string_view(buf, static_cast<std::size_t>(nbytes)), std::string_view("eight by"), "bytes");
  check_equal(a + b, 9, "words");
}

using Am2OlderNames = test::OnANode;

TEST_P(Am2OlderNames, MediumAndLong) {
  run(1, [](am::Node&) {
    const test::Am2 am2;
    const Place place;
    replies = 0;
    segment.fill(0);
    ok(AM_SetSeg(place.endpoint, segment.data(), segment.size()), "AM_SetSeg");
    ok(AM_SetHandler(place.endpoint, medium_request, handler(replies_medium)), "AM_SetHandler");
    ok(AM_SetHandler(place.endpoint, long_request, handler(replies_long)), "AM_SetHandler");
    ok(AM_SetHandler(place.endpoint, reply, handler(replied)), "AM_SetHandler");
    ok(AM_Map(place.endpoint, 0, place.name, 1), "AM_Map");
    const char* const text = "eight by";
    ok(AM_RequestMedium1(place.endpoint, 0, medium_request, text, 8, 4), "AM_RequestMedium1");
    place.until([] { return replies == 1; });
    ok(AM_RequestLong1(place.endpoint, 0, 0, long_request, text, 8, 4), "AM_RequestLong1");
    place.until([] { return replies == 2; });
    check_equal(std::memcmp(segment.data(), text, 8), 0, "where the request has put it");
    check_equal(std::memcmp(segment.data() + half, text, 8), 0, "where the reply has");
    ok(AM_Unmap(place.endpoint, 0), "AM_Unmap");
    check_equal(AM_GetTranslationInuse(place.endpoint, 0) == AM_OK, false, "the entry");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2OlderNames, test::cells_of<Am2OlderNames>(), test::name_of);

}  // namespace am2_older_names_test
