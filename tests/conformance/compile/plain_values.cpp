// Which values may travel and which may not, as far as a compiler can tell (am/impl/plain_value.hpp).
#include <am/events.hpp>
#include <am/global_ptr.hpp>
#include <am/impl/plain_value.hpp>
#include <am/payload.hpp>
#include <am/types.hpp>
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace {

using am::impl::PlainValue;
using am::impl::points;

template <class... T>
inline constexpr bool all_plain = (PlainValue<T> && ...);
template <class... T>
inline constexpr bool all_point = (points<T>() && ...);
template <class... T>
inline constexpr bool none_points = (!points<T>() && ...);

enum class Colour : unsigned char { red };
struct Empty {};
struct Pair {
  int a;
  int b;
};
struct Odd {
  std::uint8_t a;
  std::uint16_t b;
  char c[5];
};
struct Rich {
  am::NodeId node = 7;
  am::GlobalPtr<int> place;
  Colour colour;
  std::chrono::nanoseconds time;
  std::complex<float> number;
  std::bitset<8> bits;
  Pair pairs[2];
  std::optional<int> maybe;
};
struct Bits {
  unsigned a : 1, b : 1, c : 30;
};
struct Constant {
  const int value;
};
struct Large {
  double values[128];
};
struct Derived : Pair {
  int c;
};
struct WithEmpty {
  [[no_unique_address]] Empty empty;
  int x;
};
struct WithUnion {
  union {
    int a;
    float b;
  };
  int c;
};
struct Member {
  int Pair::*member;  // an offset
};
class WithInsides {
 public:
  explicit WithInsides(int a) : a_(a) {}
  [[nodiscard]] int a() const { return a_; }

 private:
  int a_;
};
struct Greedy {
  template <class T>
  Greedy(T);  // NOLINT(google-explicit-constructor): takes everything
};
struct WithGreedy {
  int a;
  Greedy b;
};
/// Has the face of an iterator, and is a number.
template <int which>
struct Cursor {
  using difference_type = std::ptrdiff_t;
  std::uint64_t at;
  int operator*() const;
  Cursor& operator++();
  Cursor operator++(int);
};

}  // namespace
template <>
inline constexpr bool am::is_plain_value<Cursor<1>> = true;
namespace {

static_assert(points<Cursor<0>>() && all_plain<Cursor<1>, std::array<Cursor<1>, 2>>);
static_assert(all_point<am::Request, am::Reply, am::LowEvent, am::Incoming, am::Payload>);
static_assert(
    all_plain<int, double, bool, std::byte, Colour, Empty, Pair, Odd, Rich, Bits, Constant, Large, Derived>);
static_assert(all_plain<WithEmpty, WithUnion, Member, WithInsides, WithGreedy, double[4], Pair[2][3]>);
static_assert(
    all_plain<std::array<char, 48>, std::array<int, 0>, std::optional<int>, std::variant<int, double>>);
static_assert(all_plain<std::chrono::system_clock::time_point, std::complex<double>, std::bitset<64>>);
static_assert(all_plain<am::GlobalPtr<int>, am::GlobalPtr<const Odd>, am::Status, std::uintptr_t>);

struct Name {
  char text[32];
  std::string_view view;
};
struct Nested {
  struct {
    struct {
      int* pointer;
    } inner;
  } outer;
  int number;
};
struct Array {
  int* pointers[3];
};
struct Views {
  std::array<std::span<int>, 1> views;
};
struct Function {
  int number;
  void (*function)();
};
struct OfBase : Nested {
  int more;
};
struct Defaulted {
  int number = 5;
  const char* const name = nullptr;
};
static_assert(all_point<int*, void*, const char* const, void (*)(), int (Pair::*)(), int* [3], int&>);
static_assert(
    all_point<std::span<int>, std::span<const std::byte, 4>, std::string_view, std::u16string_view>);
static_assert(
    all_point<std::reference_wrapper<int>, std::initializer_list<int>, am::Payload, std::error_code>);
static_assert(all_point<std::vector<int>::iterator, std::string::const_iterator, std::reverse_iterator<int*>,
                        std::back_insert_iterator<std::vector<int>>>);
static_assert(
    all_point<std::pair<int, std::string_view>, std::tuple<int, std::span<int>>, std::array<int*, 2>,
              std::optional<std::string_view>, std::variant<int, const char*>>);
static_assert(all_point<Name, Nested, Array, Views, Function, OfBase, Defaulted, std::optional<Nested>>);

// Refused for another reason, which is the one to be told.
static_assert(none_points<std::string, std::vector<int*>, std::unique_ptr<int>, std::function<void()>,
                          std::pair<int, int>, std::atomic<int>>);
static_assert(!PlainValue<std::string> && !PlainValue<std::unique_ptr<int>> &&
              !PlainValue<std::atomic<int>> && !PlainValue<std::pair<int, int>>);

}  // namespace
