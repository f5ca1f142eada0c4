#include "results/values.hpp"

#include <algorithm>

namespace results {

std::vector<std::string> Values::words() const {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= text_.size();) {
    const std::size_t end = std::min(text_.find(',', at), text_.size());
    all.push_back(text_.substr(at, end - at));
    if (std::ranges::count(all, all.back()) > 1) throw UsageError(name_ + " has " + all.back() + " twice");
    at = end + 1;
  }
  return all;
}

std::vector<bool> Values::answers() const {
  std::vector<bool> all;
  for (const std::string& word : words()) {
    if (word != "yes" && word != "no") throw UsageError(name_ + " is yes or no, not '" + word + "'");
    all.push_back(word == "yes");
  }
  return all;
}

}  // namespace results
