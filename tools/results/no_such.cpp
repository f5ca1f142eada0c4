#include "results/no_such.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace results {

namespace {

// Letters to add, to leave out or to change, until one word is the other.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);  // of a beginning of `from`: edits to each beginning of `to`
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string no_such(const std::string& kind, const std::string& word,
                    const std::vector<std::string_view>& known) {
  const std::string text = word + ": no such " + kind;
  const auto nearest =
      std::ranges::min_element(known, {}, [&](std::string_view one) { return edits(word, one); });
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  if (nearest != known.end() && edits(word, *nearest) <= (letters + 2) / 3)
    return text + "; did you mean " + std::string(*nearest) + "?";
  std::string names;
  for (const std::string_view one : known) names.append(names.empty() ? "" : ", ").append(one);
  return text + "; there are " + names;
}

}  // namespace results
