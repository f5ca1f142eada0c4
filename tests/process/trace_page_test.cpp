// Pages that `amsim --trace` writes, opened in a browser: what their script draws of a machine, for which cycle and message, and how
// it looks. Chromium without a window, which Debian's package chromium brings.

#include <regex>

#include "amsim/trace/views.hpp"
#include "process/command.hpp"

namespace trace_page_test {

using process_test::count;
using process_test::Outcome;
using namespace testing;

const std::string amsim = AM_BIN_DIR "/amsim";

class TracePage : public testing::Test {
 protected:
  // One folder for all: the first start with a profile takes a second more.
  static void SetUpTestSuite() { folder_ = std::make_unique<process_test::TemporaryFolder>(); }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    if (process_test::run({"sh", "-c", "command -v chromium"}).exit_code != 0)
      GTEST_SKIP() << "takes chromium: apt-get install chromium";
  }
  [[nodiscard]] static std::string in(const std::string& file) { return folder_->in(file); }

  /// The page of a small machine: four rows, each a ring of four.
  std::string small_machine() {
    const std::string page = in("t1.html");
    process_test::expect_end(process_test::run({amsim, "t1", "rows=4", "columns=4", "--trace", page}), 0);
    return page;
  }
  /// A page again, with something that people do to it.
  std::string with(const std::string& page, const std::string& script) {
    std::ifstream file(page);
    std::ofstream(in("again.html")) << file.rdbuf() << "<script>" << script << "</script>";
    return in("again.html");
  }
  Outcome browse(const std::string& page, const std::string& behind, const std::vector<std::string>& what) {
    std::vector<std::string> command = {"chromium", "--headless", "--no-sandbox", "--disable-gpu"};
    command.push_back("--user-data-dir=" + in("profile"));
    command.insert(command.end(), {"--virtual-time-budget=2000", "--window-size=1200,800"});
    command.insert(command.end(), what.begin(), what.end());
    command.push_back("file://" + page + behind);
    const Outcome outcome = process_test::expect_end(process_test::run(command), 0);
    return outcome;
  }
  /// What is there when the script has drawn.
  std::string drawn(const std::string& page, const std::string& behind = "") {
    std::string dom = browse(page, behind, {"--dump-dom"}).out;
    EXPECT_THAT(dom, HasSubstr("data-ready=\"yes\""));
    EXPECT_THAT(dom, Not(HasSubstr("data-error")));
    return dom;
  }

 private:
  inline static std::unique_ptr<process_test::TemporaryFolder> folder_;
};

std::vector<std::string> all_of(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
    all.push_back((*at)[1]);
  return all;
}
std::set<std::string> colours_of_links(const std::string& dom) {
  const std::vector<std::string> all = all_of(dom, "<path class=\"link[^>]* fill=\"([^\"]*)\"");
  return {all.begin(), all.end()};
}

TEST_F(TracePage, DrawsNodesAndLinksAndTheirLoad) {
  const std::string page = small_machine();
  const std::string before = drawn(page, "#t=0&over=1");
  EXPECT_EQ(count(before, "<g class=\"node"), 16);
  // Rings along rows, open columns, and each node's way into the network and out of it.
  EXPECT_EQ(count(before, "<path class=\"link"), 4 * 4 * 2 + 3 * 4 * 2 + 16 * 2);
  EXPECT_EQ(colours_of_links(before).size(), 1u) << "nothing has been sent";
  EXPECT_EQ(count(before, "<circle"), 0);
  EXPECT_THAT(before, HasSubstr("cycle 0 of "));
  EXPECT_THAT(before, HasSubstr("0 of 56 links carry a flit, 0 of "));

  const std::string later = drawn(page, "#t=100&over=16");
  EXPECT_GT(colours_of_links(later).size(), 4u);
  EXPECT_GT(count(later, "class=\"flit\""), 10);
  EXPECT_GT(count(later, "<option value=\""), 10 + 10) << "messages under way";
  EXPECT_GT(count(later, "data-does=\"handler\"") + count(later, "data-does=\"SEND\""), 4);
}

TEST_F(TracePage, FollowsAMessageFromInterfaceToInterface) {
  // Node 0 starts all by multicast along its column: to nodes 4, 8 and 12, over three links.
  const std::string page = small_machine();
  const std::string early = drawn(page, "#t=9&message=0");
  EXPECT_EQ(count(early, "class=\"link way"), 1 + 3 + 3);
  EXPECT_EQ(count(early, "class=\"link way passed"), 2) << "into the network, and on the first link";
  EXPECT_EQ(count(early, "class=\"flit followed\""), 1);
  EXPECT_EQ(count(early, "class=\"node way"), 4);
  EXPECT_THAT(early, HasSubstr("message 0: low multicast, node 0 → 12, 2 flits"));
  EXPECT_THAT(early, HasSubstr("<td>8–9</td><td>node 0 to node 4</td>"));
  EXPECT_THAT(early, HasSubstr("<td>all of it at node 12</td>"));
  const std::string end = drawn(page, "#t=60&message=0");
  EXPECT_EQ(count(end, "class=\"link way passed"), 7);
  EXPECT_EQ(count(end, "class=\"flit followed\""), 0);
}

TEST_F(TracePage, DoesWhatPeopleDoToIt) {
  const std::string page = small_machine();
  const std::string moved =
      drawn(with(page, "by('time').value = 100; by('time').dispatchEvent(new Event('input'));"), "#t=0");
  EXPECT_THAT(moved, HasSubstr("cycle 100 of "));
  EXPECT_GT(colours_of_links(moved).size(), 4u);
  const std::string chosen = drawn(
      with(page, "by('messages').value = 1; by('messages').dispatchEvent(new Event('change'));"), "#t=12");
  EXPECT_THAT(chosen, HasSubstr("message 1: high multicast, node 0 → "));
  EXPECT_GT(count(chosen, "class=\"link way"), 2);
  EXPECT_THAT(drawn(with(page, "by('play').click();"), "#t=0"), Not(HasSubstr(">cycle 0 of ")));
  EXPECT_THAT(drawn(page, "#t=1e9&message=99999&over=5"), HasSubstr("links carry a flit")) << "not there";
}

TEST_F(TracePage, LooksLikeSomething) {
  const std::string picture = in("page.png");
  browse(small_machine(), "#t=100&message=40", {"--screenshot=" + picture});
  std::ifstream file(picture, std::ios::binary);
  const std::string png{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_GT(png.size(), 20'000u) << "an empty page has less";
  EXPECT_EQ(png.substr(1, 3), "PNG");
  const auto number = [&](std::size_t at) {
    unsigned value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png[at + i]);
    return value;
  };
  EXPECT_EQ(number(16), 1200u);
  EXPECT_EQ(number(20), 800u);
}

TEST_F(TracePage, ShowsATextbookNetworkToo) {
  const std::string page = in("network.html");
  const Outcome outcome =
      process_test::run({amsim, "network", "k=16", "topology=mesh", "traffic=transpose", "num_vcs=4",
                         "injection_rate=0.1", "sample_period=200", "--reps", "1", "--trace", page});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string dom = drawn(page, "#t=150&message=300");
  EXPECT_EQ(count(dom, "<g class=\"node"), 256);
  EXPECT_EQ(count(dom, "<path class=\"link"), 2 * 2 * 15 * 16 + 2 * 256);
  EXPECT_GT(colours_of_links(dom).size(), 4u);
  EXPECT_THAT(dom, HasSubstr("mesh of 16 x 16, transpose"));
}

TEST_F(TracePage, IsNotBrokenByNames) {
  am::kit::Trace trace(am::kit::Grid{{3}});
  trace.names = {.title = "</script><h2>title</h2>", .messages = {"<h2>"}, .activities = {"</select><h2>"}};
  trace.does(1, 0, 0, true);
  trace.passes(trace.begins(0, 1, 0), 0, 1, 0, 4);
  trace.ends(9);
  std::ofstream(in("names.html")) << amsim::to_page(trace);
  const std::string dom = drawn(in("names.html"), "#t=0&message=0");
  EXPECT_THAT(dom, HasSubstr("&lt;/script&gt;&lt;h2&gt;title"));
  EXPECT_THAT(dom, HasSubstr("message 0: &lt;h2&gt;, node 0"));
  EXPECT_EQ(count(dom, "<h2>"), 0);
}

}  // namespace trace_page_test
