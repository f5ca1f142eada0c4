// expected: take more than 48 bytes
#include <am/node.hpp>

void handler(am::Request&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
             std::uint64_t, std::uint64_t);

void f(am::Node& node) { node.request<handler>(0, 1u, 2u, 3u, 4u, 5u, 6u, 7u); }
