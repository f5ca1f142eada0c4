// How aminfo puts side by side what libfabric offers to jobs on one host and on several, and what the doctor makes of it.
// Where there is none: process/aminfo_test.cpp.
#include "aminfo/libfabric.hpp"

#include <gmock/gmock.h>

namespace aminfo::aminfo_libfabric_test {

using namespace testing;

Libfabric of_two_hosts() {
  Libfabric libfabric;
  libfabric.here = {.offers = {{"shm", "shm", ""}, {"net", "lo", ""}, {"net", "eth0", "not the loopback"}},
                    .chosen = {"shm", "shm", ""},
                    .sleeps = false};
  libfabric.elsewhere = {.offers = {{"verbs;ofi_rxm", "mlx5_0", ""},
                                    {"net", "eth0", ""},
                                    {"shm", "shm", "this host only"},
                                    {"net", "lo", "not of others"}},
                         .chosen = {"verbs;ofi_rxm", "mlx5_0", ""},
                         .sleeps = true};
  return libfabric;
}

std::vector<std::string> texts_of(const Libfabric& libfabric) {
  std::vector<std::string> texts;
  for (const ProviderLine& line : lines_of(libfabric.here, libfabric.elsewhere))
    texts.push_back(line.provider + "|" + line.domain + "|" + line.here + "|" + line.elsewhere);
  return texts;
}

TEST(Libfabric, StandsSideBySide) {
  EXPECT_THAT(texts_of(of_two_hosts()),
              ElementsAre("shm|shm|chosen; nodes that sleep look each millisecond|this host only",
                          "net|lo|by name: AM_TRANSPORT=ofi:net|not of others",
                          "net|eth0|not the loopback|by name: AM_TRANSPORT=ofi:net",
                          "verbs;ofi_rxm|mlx5_0|not offered|chosen; nodes sleep until something comes"));
}

// What is chosen by its name only is chosen, whatever speaks against it elsewhere. Names are written as shells take them.
TEST(Libfabric, ChosenIsStrongerThanWhyNot) {
  Libfabric libfabric = of_two_hosts();
  libfabric.here.chosen = libfabric.elsewhere.chosen = {"net", "eth0", ""};
  const std::vector<std::string> texts = texts_of(libfabric);
  EXPECT_THAT(texts[0], HasSubstr("shm|shm|by name: "));
  EXPECT_THAT(texts[2], HasSubstr("net|eth0|chosen; "));
  EXPECT_EQ(texts[3], "verbs;ofi_rxm|mlx5_0|not offered|by name: AM_TRANSPORT='ofi:verbs;ofi_rxm'");
}

TEST(Libfabric, FitMachinesNeedNothing) {
  const Finding finding = finding_of(of_two_hosts(), true);
  EXPECT_EQ(finding.level, Level::ok);
  EXPECT_EQ(finding.text, "shm on shm leads to nodes of this host, verbs;ofi_rxm on mlx5_0 to other hosts");
  EXPECT_THAT(finding.mend, IsEmpty());
  EXPECT_EQ(usability_of(of_two_hosts()), "usable");
}

TEST(Libfabric, NothingForOtherHostsIsAWarning) {
  Libfabric libfabric = of_two_hosts();
  libfabric.elsewhere.chosen = {"", "", "no interface"};
  for (const bool is_asked_for : {false, true}) {
    const Finding finding = finding_of(libfabric, is_asked_for);
    EXPECT_EQ(finding.level, Level::warn);
    EXPECT_THAT(finding.text,
                HasSubstr("shm on shm leads to nodes of this host, nothing to other hosts: no interface"));
    EXPECT_THAT(finding.mend, Not(IsEmpty()));
  }
  EXPECT_EQ(usability_of(libfabric), "usable");
}

}  // namespace aminfo::aminfo_libfabric_test
