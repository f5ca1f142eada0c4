// <am/am2.h>: bundles, endpoints, tags, tables, segments, events: each row of the reference's set-up table, and its errors.

#include "support/am2.hpp"

namespace am2_tables_test {

using namespace test;

void nothing(void* /*token*/) {}

TEST(Am2Tables, NothingBeforeInit) {
  test::run_alone([](am::Node&) {
    eb_t bundle = nullptr;
    check_equal(AM_AllocateBundle(AM_SEQ, &bundle), AM_ERR_NOT_INIT, "AM_AllocateBundle before AM_Init");
    check_equal(AM_Poll(bundle), AM_ERR_NOT_INIT, "AM_Poll");
    check_equal(AM_Terminate(), AM_ERR_NOT_INIT, "AM_Terminate");
    check_equal(AMX_SPMDBarrier(), AM_ERR_NOT_INIT, "AMX_SPMDBarrier");
    ok(AM_Init(), "AM_Init");
    ok(AM_Init(), "a second AM_Init");
    ok(AM_Terminate(), "AM_Terminate");
    ok(AM_AllocateBundle(AM_SEQ, &bundle), "between the two");
    ok(AM_Terminate(), "the last one");
    check_equal(AM_Poll(bundle), AM_ERR_NOT_INIT, "AM_Poll after the last");
    ok(AM_Init(), "AM_Init again");
    check_equal(AM_Poll(bundle), AM_ERR_BAD_ARG, "a bundle of before");
    ok(AM_Terminate(), "AM_Terminate");
  });
}

TEST(Am2Tables, BundlesAndEndpoints) {
  run_am2_alone([] {
    eb_t one = nullptr;
    eb_t two = nullptr;
    check_equal(AM_AllocateBundle(AM_PAR, &one), AM_ERR_RESOURCE, "AM_PAR");
    check_equal(AM_AllocateBundle(7, &one), AM_ERR_BAD_ARG, "no type");
    check_equal(AM_AllocateBundle(AM_SEQ, nullptr), AM_ERR_BAD_ARG, "no place");
    ok(AM_AllocateBundle(AM_SEQ, &one), "AM_AllocateBundle");
    ok(AM_AllocateBundle(AM_SEQ, &two), "AM_AllocateBundle");
    ep_t endpoint = nullptr;
    en_t name;
    check_equal(AM_AllocateEndpoint(nullptr, &endpoint, &name), AM_ERR_BAD_ARG, "no bundle");
    ok(AM_AllocateEndpoint(one, &endpoint, &name), "AM_AllocateEndpoint");
    check_equal(AM_MoveEndpoint(endpoint, two, one), AM_ERR_BAD_ARG, "it is not there");
    ok(AM_MoveEndpoint(endpoint, one, two), "AM_MoveEndpoint");
    ok(AM_FreeBundle(one), "AM_FreeBundle");
    check_equal(AM_Poll(one), AM_ERR_BAD_ARG, "a freed bundle");
    tag_t tag = 9;
    ok(AM_GetTag(endpoint, &tag), "the endpoint moved away in time");
    check_equal(tag, AM_NONE, "as it is made");
    ok(AM_FreeBundle(two), "AM_FreeBundle");
    check_equal(AM_GetTag(endpoint, &tag), AM_ERR_BAD_ARG, "freed with its bundle");
    check_equal(AM_FreeEndpoint(endpoint), AM_ERR_BAD_ARG, "freed before");
  });
}

TEST(Am2Tables, NamesAreNeverUsedAgainButKnownOnesAre) {
  run_am2_alone([] {
    const Place place;
    std::vector<unsigned> seen = {place.name.endpoint};
    for (int i = 0; i < 300; ++i) {
      ep_t endpoint = nullptr;
      en_t name;
      ok(AM_AllocateEndpoint(place.bundle, &endpoint, &name), "AM_AllocateEndpoint");
      check(std::find(seen.begin(), seen.end(), name.endpoint) == seen.end(), "a name for the second time");
      seen.push_back(name.endpoint);
      if (i % 2 == 0) ok(AM_FreeEndpoint(endpoint), "AM_FreeEndpoint");
    }
    ep_t known = nullptr;
    en_t name;
    check_equal(AM_AllocateKnownEndpoint(place.bundle, &known, &name, -1), AM_ERR_BAD_ARG, "no port");
    check_equal(AM_AllocateKnownEndpoint(place.bundle, &known, &name, 65536), AM_ERR_BAD_ARG, "no port");
    for (int i = 0; i < 3; ++i) {
      ok(AM_AllocateKnownEndpoint(place.bundle, &known, &name, 4711), "AM_AllocateKnownEndpoint");
      check_equal(AMX_enEqual(name, am2_known_name(0, 4711)), 1, "its name");
      ep_t second = nullptr;
      check_equal(AM_AllocateKnownEndpoint(place.bundle, &second, &name, 4711), AM_ERR_IN_USE,
                  "the port again");
      ok(AM_FreeEndpoint(known), "AM_FreeEndpoint");
    }
  });
}

TEST(Am2Tables, Translations) {
  run_am2_alone([] {
    const Place place;
    int n = 0;
    int most = 0;
    ok(AM_MaxNumTranslations(&most), "AM_MaxNumTranslations");
    ok(AM_GetNumTranslations(place.endpoint, &n), "AM_GetNumTranslations");
    check(n >= 256 && most >= n, "the specification's minimum");
    check_equal(AM_Map(place.endpoint, n, place.name, 5), AM_ERR_BAD_ARG, "beyond the table");
    check_equal(AM_Map(place.endpoint, -1, place.name, 5), AM_ERR_BAD_ARG, "before the table");
    ok(AM_Map(place.endpoint, 1, {7, 8}, 5), "AM_Map");
    check_equal(AM_Map(place.endpoint, 1, place.name, 5), AM_ERR_RESOURCE, "in use");
    en_t name;
    tag_t tag = 0;
    ok(AM_GetTranslationName(place.endpoint, 1, &name), "its name");
    ok(AM_GetTranslationTag(place.endpoint, 1, &tag), "its tag");
    check(name.node == 7 && name.endpoint == 8 && tag == 5, "what was mapped");
    ok(AM_GetTranslationInuse(place.endpoint, 1), "in use");
    check_equal(AM_GetTranslationInuse(place.endpoint, 0), AM_ERR_RESOURCE, "not in use");
    check_equal(AM_GetTranslationTag(place.endpoint, 0, &tag), AM_ERR_RESOURCE, "not in use");
    check_equal(AM_GetTranslationInuse(place.endpoint, n), AM_ERR_BAD_ARG, "no such index");
    int index = -1;
    for (int i = 0; i < n - 1; ++i) {
      ok(AM_MapAny(place.endpoint, &index, place.name, 5), "AM_MapAny");
      check_equal(index, i == 0 ? 0 : i + 1, "the lowest that is free");
    }
    check_equal(AM_MapAny(place.endpoint, &index, place.name, 5), AM_ERR_RESOURCE, "a full table");
    check_equal(AM_SetNumTranslations(place.endpoint, most + 1), AM_ERR_RESOURCE, "more than the most");
    check_equal(AM_SetNumTranslations(place.endpoint, -1), AM_ERR_BAD_ARG, "fewer than none");
    ok(AM_SetNumTranslations(place.endpoint, 1000), "AM_SetNumTranslations");
    ok(AM_MapAny(place.endpoint, &index, place.name, 5), "in the larger table");
    check_equal(index, n, "the lowest that is free");
    check_equal(AM_SetNumTranslations(place.endpoint, 256), AM_ERR_RESOURCE, "smaller than what is in use");
    ok(AM_UnMap(place.endpoint, n), "AM_UnMap");
    check_equal(AM_UnMap(place.endpoint, n), AM_ERR_RESOURCE, "not in use any more");
    check_equal(AM_Unmap(place.endpoint, 1000), AM_ERR_BAD_ARG, "no such index");
    ok(AM_SetNumTranslations(place.endpoint, 10), "the minimum remains");
    ok(AM_GetNumTranslations(place.endpoint, &n), "AM_GetNumTranslations");
    check_equal(n, 256, "the minimum");
  });
}

TEST(Am2Tables, Handlers) {
  run_am2_alone([] {
    const Place place;
    check(AM_MaxNumHandlers() >= 256, "the specification's minimum");
    int n = 0;
    ok(AM_GetNumHandlers(place.endpoint, &n), "AM_GetNumHandlers");
    check_equal(n, AM_MaxNumHandlers(), "how many there are");
    ok(AM_SetNumHandlers(place.endpoint, n), "AM_SetNumHandlers");
    check_equal(AM_SetNumHandlers(place.endpoint, n + 1), AM_ERR_RESOURCE, "more than the most");
    check_equal(AM_SetNumHandlers(place.endpoint, -1), AM_ERR_BAD_ARG, "fewer than none");
    check_equal(AM_SetHandler(place.endpoint, n, handler(nothing)), AM_ERR_BAD_ARG, "no such index");
    check_equal(AM_SetHandler(place.endpoint, -1, handler(nothing)), AM_ERR_BAD_ARG, "no such index");
    check_equal(AM_SetHandler(place.endpoint, 1, nullptr), AM_ERR_BAD_ARG, "no function");
    set_handler(place.endpoint, 2, nothing);
    ok(AM_SetHandler(place.endpoint, 2, handler(nothing)), "a second time: it is replaced");
    handler_t h = 0;
    for (int i = 1; i < n; ++i) {
      if (i == 2) continue;
      ok(AM_SetHandlerAny(place.endpoint, &h, handler(nothing)), "AM_SetHandlerAny");
      check_equal(h, i, "the first that is free");
    }
    check_equal(AM_SetHandlerAny(place.endpoint, &h, handler(nothing)), AM_ERR_RESOURCE, "a full table");
  });
}

TEST(Am2Tables, TagsSegmentsLimitsMasks) {
  run_am2_alone([] {
    const Place place;
    tag_t tag = 0;
    ok(AM_SetTag(place.endpoint, 0xfedcba9876543210), "AM_SetTag");
    ok(AM_GetTag(place.endpoint, &tag), "AM_GetTag");
    check_equal(tag, 0xfedcba9876543210, "64 bits of tag");
    check_equal(AM_GetTag(place.endpoint, nullptr), AM_ERR_BAD_ARG, "no place");
    unsigned long most = 0;
    ok(AM_MaxSegLength(&most), "AM_MaxSegLength");
    check(most >= 8192, "room for one bulk transfer");
    char memory[64];
    ok(AM_SetSeg(place.endpoint, memory, sizeof memory), "AM_SetSeg");
    check_equal(AM_SetSeg(place.endpoint, nullptr, 1), AM_ERR_BAD_ARG, "no memory");
    check_equal(AM_SetSeg(place.endpoint, memory, most + 1), AM_ERR_BAD_ARG, "more than the most");
    void* address = nullptr;
    unsigned long bytes = 0;
    ok(AM_GetSeg(place.endpoint, &address, &bytes), "AM_GetSeg");
    check(address == memory && bytes == sizeof memory, "the segment");
    check_equal(AM_GetSeg(place.endpoint, nullptr, &bytes), AM_ERR_BAD_ARG, "no place");
    ok(AM_SetExpectedResources(place.endpoint, 4, 10), "AM_SetExpectedResources");
    check_equal(AM_SetExpectedResources(place.endpoint, 4, 0), AM_ERR_BAD_ARG, "none outstanding");
    check(AM_MaxShort() >= 8 && AM_MaxMedium() >= 512 && AM_MaxLong() >= 8192, "the specification's minima");
    int mask = -1;
    ok(AM_GetEventMask(place.bundle, &mask), "AM_GetEventMask");
    check_equal(mask, AM_NOEVENTS, "as it is made");
    ok(AM_WaitSema(place.bundle), "nothing to wait for");
    check_equal(AM_Wait(nullptr), AM_ERR_BAD_ARG, "no bundle");
    check_equal(AM_SetEventMask(place.bundle, 2), AM_ERR_BAD_ARG, "no mask");
    ok(AM_SetEventMask(place.bundle, AM_NOTEMPTY), "AM_SetEventMask");
    ok(AM_GetEventMask(place.bundle, &mask), "AM_GetEventMask");
    check_equal(mask, AM_NOTEMPTY, "what was set");
  });
}

// AMUDP's master starts the workers and has their environment; here the launcher does, and each process has its own.
TEST(Am2Tables, EveryProcessIsAWorkerAndItsOwnMaster) {
  std::array<char*, 1> argv{};
  check_equal(AMX_SPMDIsWorker(argv.data()), 1, "before the start");
  const test::Environment set("AM2_TEST_OF_MASTER", "its value");
  check_equal(std::string_view(AMX_SPMDgetenvMaster("AM2_TEST_OF_MASTER")), "its value", "what is set");
  check(AMX_SPMDgetenvMaster("AM2_TEST_OF_NOBODY") == nullptr, "what is not");
  run_am2_alone([&] { check_equal(AMX_SPMDIsWorker(argv.data()), 1, "in a job"); });
}

// Each thread's node has tables of its own, and a handle of one is none of another's.
TEST(Am2Tables, NodesOfOneProcessShareNothing) {
  static std::atomic<ep_t> of_node_0;
  of_node_0 = nullptr;
  test::run_job({test::Nodes::threads}, 3, [](am::Node& node) {
    const Place place;
    ok(AM_SetTag(place.endpoint, 100 + node.id()), "AM_SetTag");
    if (node.id() == 0) of_node_0 = place.endpoint;
    node.barrier();
    tag_t tag = 0;
    ok(AM_GetTag(place.endpoint, &tag), "AM_GetTag");
    check_equal(tag, 100 + node.id(), "its own tag");
    if (node.id() != 0)
      check_equal(AM_GetTag(of_node_0, &tag), AM_ERR_BAD_ARG, "an endpoint of another node");
    node.barrier();
  });
}

}  // namespace am2_tables_test
