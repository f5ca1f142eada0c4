#include <am/splitc/spread_array.hpp>

#include <am/error.hpp>

#include <string>

namespace am::splitc::impl {

void index_outside(const char* what, std::size_t index, std::size_t count) {
  throw Error(std::string("index ") + what, "node " + std::to_string(my_proc()),
              std::to_string(index) + " is not below " + std::to_string(count), "check the index");
}

}  // namespace am::splitc::impl
