// A trace as a picture: what is drawn, and how dark.
#include "emulated_hw/kit/trace_picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace am::kit {
namespace trace_picture_test {

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

TEST(TracePicture, IsOfOneOrTwoDimensions) {
  Trace nothing(Grid{{1}});
  nothing.ends(0);
  EXPECT_NE(to_picture(nothing).find("0 to 0.00; 0 cycles"), std::string::npos);
  EXPECT_THROW(static_cast<void>(to_picture(Trace(Grid{{2}, {2}, {2}}))), std::invalid_argument);
}

}  // namespace trace_picture_test
}  // namespace am::kit
