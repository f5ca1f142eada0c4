// A trace as a page, without a browser (tests/process/trace_page_test.cpp has one), and as a picture: what is drawn, and how dark.
#include "emulated_hw/kit/trace_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "emulated_hw/kit/trace_picture.hpp"

namespace am::kit {
namespace trace_page_test {

using nlohmann::json;

json data_in(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"trace\">";
  const std::size_t at = page.find(begin) + begin.size();
  return json::parse(page.substr(at, page.find("</script>", at) - at));
}

TEST(TracePage, HoldsTheRecord) {
  Trace trace(Grid{{3, true}, {2}}, 10);
  trace.names = {.title = "three by two", .messages = {"low", "high"}, .activities = {"SEND"}};
  const std::uint32_t first = trace.begins(0, 1, 0);
  const std::uint32_t second = trace.begins(4, 5, 1);
  trace.does(0, 0, 0, true);
  trace.passes(first, 0, Trace::injection, 2, 3);
  trace.passes(second, 4, 1, 7, 2);
  trace.comes(first, 1, 9);
  trace.ends(12);
  EXPECT_EQ(data_in(to_page(trace)), json::parse(R"({
    "title": "three by two", "missing": "", "extents": [3, 2], "wraps": [true, false], "ports": 5, "cycles": 12,
    "kinds": ["low", "high"], "activities": ["SEND"],
    "messages": [0, 1, 0, 4, 5, 1], "passages": [2, 0, 0, 5, 3, 5, 1, 4, 1, 2], "arrivals": [9, 0, 1],
    "does": [0, 1, 0, 0]})"));
}

TEST(TracePage, IsAPageWhateverThingsAreCalled) {
  Trace trace(Grid{{2}});
  const std::string name = "</script><script>alert(1)</script> & <!-- \"é\" \\ \n";
  trace.names = {.title = name, .messages = {name}, .activities = {name}};
  trace.ends(1);
  const std::string page = to_page(trace);
  const json data = data_in(page);
  EXPECT_EQ(data["title"], name);
  EXPECT_EQ(data["kinds"][0], name);
  EXPECT_EQ(data["activities"][0], name);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("http"), page.find("http://www.w3.org/2000/svg")) << "needs nothing from elsewhere";
}

TEST(TracePicture, DrawsNodesAndLinksByLoad) {
  Trace trace(Grid{{3, true}, {2}});
  trace.names.title = "three <by> two & more";
  const std::uint32_t message = trace.begins(0, 1, 0);
  trace.passes(message, 0, 1, 0, 5);  // the link with the most
  trace.passes(message, 1, 1, 2, 1);
  trace.ends(10);
  const std::string picture = to_picture(trace);
  EXPECT_NE(picture.find("three &lt;by> two &amp; more"), std::string::npos);
  EXPECT_NE(picture.find("flits per cycle on a link, 0 to 0.50; 10 cycles"), std::string::npos);
  for (const char* node : {">0</text>", ">5</text>"}) EXPECT_NE(picture.find(node), std::string::npos);
  const auto arrows_in = [&](const std::string& colour) {
    const std::size_t at = picture.find("<path fill=\"" + colour);
    if (at == std::string::npos) return std::ptrdiff_t{0};
    return std::ranges::count(picture.substr(at, picture.find("/>", at) - at), 'M');
  };
  EXPECT_EQ(arrows_in("#0b3a75"), 1) << "all of the most";
  EXPECT_EQ(arrows_in("#a9cfee"), 1) << "a fifth of it";
  // Rows: four links that go straight and two round the edge, drawn as two ends each, both ways; and three columns.
  EXPECT_EQ(arrows_in("#e6eaee"), 2 * (2 * 2 + 2 * 2) + 3 * 2 - 2);
}

TEST(TracePage, IsOfOneOrTwoDimensionsAsAPictureIs) {
  Trace nothing(Grid{{1}});
  nothing.ends(0);
  EXPECT_NE(to_picture(nothing).find("0 to 0.00; 0 cycles"), std::string::npos);
  EXPECT_NO_THROW(static_cast<void>(to_page(nothing)));
  const Trace cube(Grid{{2}, {2}, {2}});
  EXPECT_THROW(static_cast<void>(to_picture(cube)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(to_page(cube)), std::invalid_argument);
}

}  // namespace trace_page_test
}  // namespace am::kit
