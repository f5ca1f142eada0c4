// What a tool answers to a word that it does not know.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace results {

// "injection_rates: no such parameter; did you mean injection_rate?" Where none of `known` is like it, all are named.
std::string no_such(const std::string& kind, const std::string& word,
                    const std::vector<std::string_view>& known);

}  // namespace results
