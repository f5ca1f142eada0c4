// Sends that must compile, and without a warning: what a user writes without a thought of libam's rules.
#include <am/am.hpp>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

enum class Colour : std::uint8_t { red };
enum Size { small };
struct Point {
  double x = 0;
  double y = 0;
  bool operator==(const Point&) const = default;
};
struct Odd {
  std::uint8_t a;
  unsigned b : 3;
  char text[21];
  Point point;
};
class Ticket {
 public:
  Ticket() = default;
  explicit Ticket(int number) : number_(number) {}
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_ = 0;
};
union Either {
  int number;
  float real;
};

void none(am::Request&) {}
void answered(am::Reply&, std::size_t /*count*/) {}
void integers(am::Request& request, std::uint64_t wide, int plain, std::int8_t /*small*/, char /*letter*/) {
  request.reply<answered>(wide);
  static_cast<void>(request.try_reply<answered>(plain));
  request.reply_to<answered>(0, 7);
  static_cast<void>(request.try_reply_to<answered>(request.from(), 7U));
  static_cast<void>(request.try_request<none>(request.from()));
  request.post([](am::Node& node) { node.request<none>(0); });
}
void reals(am::Request&, float, double, const double&, long double) {}
void truths(am::Request&, bool, int) {}
void enums(am::Request&, Colour, int, Size) {}
void structs(am::Reply& reply, const Odd&, const Ticket, Either) {
  static_cast<void>(reply.try_reply_to<answered>(reply.from(), 1));
  static_cast<void>(reply.try_request<none>(reply.from()));
  reply.post([](am::Node& node) { node.reply_to<answered>(0, 1); });
}
void standard(am::Reply&, std::chrono::nanoseconds, std::array<std::int16_t, 3>, std::optional<int>,
              std::variant<int, float>, std::byte) {}
void places(am::Request&, am::GlobalPtr<const double>, am::GlobalPtr<int>, std::uintptr_t, am::NodeId) {}
void payload(am::Request&, am::Payload) {}
void payload_too(am::Reply&, int, const am::Payload&) {}
void full(am::Request&, std::array<char, 48>, am::Payload) {}
struct Program {
  void handler(am::Request&, std::size_t) {}
  void constant(am::Reply&, Point) const noexcept {}
};

void send_all(am::Node& node, int i, long l, unsigned u, std::size_t size, const float real, const bool truth,
              std::atomic<int>& shared) {
  node.request<none>(0);
  node.request<integers>(0, 7, 7, std::int8_t{7}, 'a');
  node.request<integers>(0, i, u, 'a', std::int8_t{7});
  node.request<integers>(0, l, shared, true, truth);
  node.request<integers>(0, size, size == 0, std::uint8_t{200}, char8_t{'a'});
  node.request<integers>(0, std::integral_constant<int, 7>(), small, std::int8_t{-1}, 'a');
  node.request<reals>(0, real, real, 0.5, 0.5F);
  node.request<reals>(0, 1, l, size, l);
  node.request<truths>(0, truth, truth);
  node.request<truths>(0, size == 0, std::vector<bool>{true}[0]);
  node.request<enums>(0, Colour::red, small, small);
  node.reply_to<structs>(0, Odd{1, 2, {'t', 'e', 'x', 't'}, {}}, Ticket(7), Either{7});
  node.reply_to<standard>(0, std::chrono::seconds(1), std::array<std::int16_t, 3>{}, 7, 0.5F, std::byte{7});
  static_cast<void>(node.try_reply_to<standard>(0, std::chrono::nanoseconds(1), std::array<std::int16_t, 3>{},
                                                std::nullopt, std::variant<int, float>(7), std::byte{7}));
  node.request<places>(0, am::GlobalPtr<double>(), nullptr, reinterpret_cast<std::uintptr_t>(&i), node.id());
  node.request<&Program::handler>(0, 7);
  node.reply_to<&Program::constant>(0, Point{1, 2});
  node.request<[](am::Request&, std::size_t) {}>(0, i);
}

void send_payloads(am::Node& node, const std::vector<Point>& points, std::span<const int> numbers,
                   am::Payload bytes, const std::string& text) {
  char buffer[16] = {};
  double matrix[3][4] = {};
  static constexpr std::string_view constant = "text";
  node.request<payload>(0, points);
  node.request<payload>(0, numbers);
  node.request<payload>(0, bytes);
  node.request<payload>(0, text);
  node.request<payload>(0, text + "text");
  node.request<payload>(0, std::string_view("text"));
  node.request<payload>(0, constant);
  node.request<payload>(0, buffer);
  node.request<payload>(0, matrix);
  node.request<payload>(0, std::array<Odd, 2>{});
  node.request<payload>(0, std::as_bytes(numbers));
  node.request<payload>(0, std::span(points).first(1));
  node.request<payload>(0, am::Payload());
  node.request<payload>(0, am::Payload(buffer, 3));
  static_cast<void>(node.try_reply_to<payload_too>(0, 7, text));
  node.request<full>(0, std::array<char, 48>(), text);
  am::Draft draft = node.prepare<full>(0, 100, std::array<char, 48>());
  static_cast<void>(draft.as<Point>().empty() || bytes.as<char>().empty() || bytes.as<double[4]>().empty());
  static_cast<void>(node.try_prepare<payload_too>(0, 100, 7));
}

void send_otherwise(am::Node& node, am::GlobalPtr<Point> place, const std::vector<Point>& points, int i) {
  node.multicast<integers>(am::Group::all(node), 7, 7, std::int8_t{7}, 'a');
  static_cast<void>(node.try_multicast<payload_too>(am::Group{0, 1}, 7, points));
  am::put_notify<integers>(node, place, points, i, i, std::int8_t{7}, 'a');
  node.on_outlet([](am::LowEvent& event) { static_cast<void>(event.try_request<none>(0)); });
}

void send_in_no_order(am::Node& node, const std::string& text) {
  node.request<none>(am::unordered(0));
  node.request<integers>(am::unordered(node.id()), 7, 7, std::int8_t{7}, 'a');
  node.request<payload>(am::unordered(0), text);
  node.reply_to<payload_too>(am::unordered(0), 7, text);
  static_cast<void>(node.try_request<payload>(am::unordered(0), text));
  static_cast<void>(node.try_reply_to<answered>(am::unordered(0), 7));
  const am::UnorderedTo peer = am::unordered(1);
  node.request<[](am::Request& request) {
    request.reply_to<answered>(am::unordered(request.from()), 7);
    static_cast<void>(request.try_reply_to<answered>(am::unordered(request.from()), 7));
    static_cast<void>(request.try_request<none>(am::unordered(request.from())));
  }>(peer);
  node.reply_to<[](am::Reply& reply) {
    static_cast<void>(reply.try_reply_to<answered>(am::unordered(reply.from()), 7));
    static_cast<void>(reply.try_request<none>(am::unordered(reply.from())));
  }>(peer);
}

void collect(am::Node& node, std::vector<Point>& points, std::array<double, 3> values, std::string& text) {
  static_cast<void>(am::broadcast(node, 7));
  static_cast<void>(am::broadcast(node, values));
  static_cast<void>(am::broadcast<double>(node, 7));
  am::broadcast(node, std::span(points), 1);
  am::broadcast(node, std::span(text));
  am::broadcast(node, std::span<double, 3>(values));
  static_cast<void>(am::reduce(node, 7, std::plus<>()));
  am::reduce(node, std::span(values), std::plus<>());
  static_cast<void>(am::all_reduce(node, Point(), [](const Point& a, Point b) { return Point{a.x, b.y}; }));
  static_cast<void>(am::all_reduce(node, 7, [](int a, int b) { return a < b ? a : b; }));
  am::all_reduce(node, std::span(text), [](auto a, auto b) { return a ^ b; });
  static_cast<void>(am::all_gather(node, Colour::red));
  static_cast<void>(am::all_gather(node, am::GlobalPtr<int>()));
  static_cast<void>(am::all_gather(node, std::optional<int>(7)));
  static_cast<void>(am::all_gather(node, points.size() == 1));
}
