// Which hosts amrun takes, in its list and in hostfiles, how it gets there, how it shares nodes out among them, and to which cores it binds
// them.
#include "amrun/hosts.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <cctype>

#include "amrun/agent.hpp"
#include "amrun/fault.hpp"
#include "amrun/place.hpp"
#include "amrun/this_host.hpp"

namespace amrun {

bool operator==(const HostShare& a, const HostShare& b) { return a.name == b.name && a.nodes == b.nodes; }
void PrintTo(  // NOLINT(readability-identifier-naming): GoogleTest's name for it
    const HostShare& host, std::ostream* out) {
  *out << host.name << (host.nodes ? ":" + std::to_string(*host.nodes) : "");
}

namespace amrun_hosts_test {

using namespace testing;

template <class F>
std::string refusal(F call) {
  try {
    call();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.exit_code(), wrong_usage);
    return fault.what();
  }
  return "accepted";
}

HostShare host(const char* name) { return {name, std::nullopt}; }
HostShare host(const char* name, am::NodeId nodes) { return {name, nodes}; }

TEST(AmrunHosts, AreNamesWithOrWithoutANumber) {
  EXPECT_THAT(parse_hosts("a"), ElementsAre(host("a")));
  EXPECT_THAT(parse_hosts("a,b:4,c-1.x.org"), ElementsAre(host("a"), host("b", 4), host("c-1.x.org")));
  EXPECT_THAT(parse_hosts("me@a:2,10.0.0.1"), ElementsAre(host("me@a", 2), host("10.0.0.1")));
  EXPECT_THAT(parse_hosts("[fd00::2]:3,[::1]"), ElementsAre(host("fd00::2", 3), host("::1")));
  EXPECT_THAT(parse_hosts("a,b:2,a,b:3"), ElementsAre(host("a", 2), host("b", 5))) << "so many more";
}

TEST(AmrunHosts, RefusesWhatIsNone) {
  for (const char* text : {"",     ",",     "a,",          ",a",       "a:",         "a:0",
                           "a:x",  "a:1:2", "a:-1",        "a:99999",  "-a",         "-oProxyCommand=x",
                           "a b",  "a;b",   "$(a)",        "[fd00::2", "[fd00::2]3", "fd00::2",
                           "[]:2", "a/b",   "a:4294967297"})
    EXPECT_THAT(refusal([&] { parse_hosts(text); }), HasSubstr("--hosts takes names")) << text;
}

TEST(AmrunHostfile, IsOpenMpisOrMpichs) {
  EXPECT_THAT(parse_hostfile("# the cluster\n"
                             "a slots=4 max_slots=8\n"
                             "\n"
                             "  b\tslots = 2  # half of it\n"
                             "c\n"
                             "c\n"
                             "d max-slots=3\r\n"
                             "e:2\n"
                             "[fd00::2]:4 max_slots=4\n"
                             "fd00::3\n",
                             "file"),
              ElementsAre(host("a", 4), host("b", 2), host("c", 2), host("d", 3), host("e", 2),
                          host("fd00::2", 4), host("fd00::3")));
}

/// They are one, at the place of the first.
TEST(AmrunHosts, KnowThisHostByAllItsNames) {
  std::string own(256, '\0');
  ASSERT_EQ(gethostname(own.data(), own.size()), 0);
  for (char& c : own) c = static_cast<char>(std::toupper(c));
  for (const char* name : std::initializer_list<const char*>{own.c_str(), "LocalHost", "127.0.0.1", "::1"})
    EXPECT_TRUE(is_this_host(name)) << name;
  for (const char* name : {"192.0.2.1", "2001:db8::1", "elsewhere", "localhosts", "me@localhost"})
    EXPECT_FALSE(is_this_host(name)) << name;
  const auto is_own = [](const std::string& name) { return name == "own" || name == "me"; };
  EXPECT_THAT(find_this_host({host("a", 2), host("own", 2), host("b"), host("me")}, is_own),
              ElementsAre(host("a", 2), host("own", 3), host("b")));
}

TEST(AmrunAgent, IsWordsForAShell) {
  const auto command = [](const char* agent) { return part_command(agent, "b", {"/am'run"}); };
  const std::string self = "'/am'\\''run'";
  EXPECT_THAT(command(""), ElementsAre("ssh", "b", self, "--part"));
  EXPECT_THAT(command("'/my tools/a' -v "), ElementsAre("/my tools/a", "-v", "b", self, "--part"));
  EXPECT_THAT(command("\"/my tools/a\\\"b\\c\""), ElementsAre("/my tools/a\"b\\c", "b", self, "--part"));
  EXPECT_THAT(command(" /my\\ a\t''x \"\""), ElementsAre("/my a", "x", "", "b", self, "--part"));
  EXPECT_THAT(refusal([&] { command("'/my tools"); }), HasSubstr("AM_AGENT: a quote"));
}

TEST(AmrunHostfile, SaysWhichLineItCannotRead) {
  const auto error = [](const char* text) { return refusal([&] { parse_hostfile(text, "file"); }); };
  EXPECT_THAT(error("a\nb slots=x\n"), HasSubstr("file, line 2: \"slots=x\" wants a number"));
  EXPECT_THAT(error("a slots=\n"), HasSubstr("line 1"));
  EXPECT_THAT(error("a slots\n"), HasSubstr("line 1"));
  EXPECT_THAT(error("a cores=4\n"), HasSubstr("\"cores=4\" is not slots=N"));
  EXPECT_THAT(error("a slots=4 max_slots=2\n"), HasSubstr("more than max_slots"));
  EXPECT_THAT(error("root:x:0 b\n"), HasSubstr("line 1"));
  EXPECT_THAT(error("-a\n"), HasSubstr("no name of a host"));
  EXPECT_THAT(error("a:0\n"), HasSubstr("line 1: \"a:0\" is no name of a host, with or without :N"));
  EXPECT_THAT(error("a:2 slots=2\n"), HasSubstr("line 1: says twice"));
  EXPECT_THAT(error("# nothing\n\n"), HasSubstr("names no host"));
  EXPECT_THAT(refusal([] { read_hostfile("/nonexistent/hosts"); }), HasSubstr("No such file"));
}

TEST(AmrunShares, AreWhatTheHostsSayAndFillThemInTheirOrder) {
  EXPECT_THAT(share_out({host("a"), host("b", 4), host("c")}, {}), ElementsAre(1, 4, 1));
  EXPECT_THAT(share_out({host("a", 2), host("b", 4)}, 3), ElementsAre(2, 1));
  EXPECT_THAT(share_out({host("a", 2), host("b", 4)}, 1), ElementsAre(1, 0));
  EXPECT_THAT(share_out({host("a", 2), host("b", 4)}, 6), ElementsAre(2, 4));
}

TEST(AmrunShares, OfHostsWithoutANumberAreEqual) {
  EXPECT_THAT(share_out({host("a"), host("b")}, 8), ElementsAre(4, 4));
  EXPECT_THAT(share_out({host("a"), host("b"), host("c")}, 8), ElementsAre(3, 3, 2));
  EXPECT_THAT(share_out({host("a"), host("b", 4), host("c")}, 9), ElementsAre(3, 4, 2));
  EXPECT_THAT(share_out({host("a"), host("b", 4), host("c")}, 4), ElementsAre(0, 4, 0));
  EXPECT_THAT(share_out({host("a"), host("b"), host("c")}, 2), ElementsAre(1, 1, 0));
}

TEST(AmrunShares, RefuseWhatDoesNotFit) {
  const auto refused = [](am::NodeId each, std::optional<am::NodeId> nodes) {
    return refusal([&] { share_out({host("a", each), host("b", each)}, nodes); });
  };
  EXPECT_THAT(refused(2, 5), HasSubstr("places for 4 nodes, -n asks for 5"));
  EXPECT_THAT(refused(4096, {}), HasSubstr("at most 4096"));
}

TEST(AmrunPlace, IsOneCoreForEachNodeWhereThereAreSoMany) {
  struct Row {
    Bind bind;
    am::NodeId nodes;
    unsigned cores;
    std::optional<double> quota;
    bool binds;
  };
  for (const auto& [bind, nodes, cores, quota, binds] : {
           Row{Bind::automatic, 1, 4, {}, true},
           Row{Bind::automatic, 4, 4, {}, true},
           Row{Bind::automatic, 5, 4, {}, false},
           Row{Bind::automatic, 2, 4, 4.0, true},
           Row{Bind::automatic, 2, 4, 3.5, false},
           Row{Bind::core, 64, 4, 1.0, true},  // the user's word counts
           Row{Bind::none, 1, 4, {}, false},
           Row{Bind::automatic, 1, 0, {}, false},  // cores are unknown
           Row{Bind::core, 1, 0, {}, false},
       })
    EXPECT_EQ(shall_bind(bind, nodes, cores, quota), binds) << nodes << " nodes, " << cores << " cores";
}

TEST(AmrunPlace, NodesTakeCoresInOrderAndInTurns) {
  EXPECT_EQ(core_of(0, 3), 0u);
  EXPECT_EQ(core_of(2, 3), 2u);
  EXPECT_EQ(core_of(3, 3), 0u);
  EXPECT_EQ(core_of(4095, 3), 0u);
}

}  // namespace amrun_hosts_test
}  // namespace amrun
