// Counts the words of a text file on all nodes. Each node reads its part of the file and sends every word to the node
// that keeps it; a table spread over the nodes counts them. Node 0 then counts the whole file alone and compares.
//
//   amrun -n 4 build/bin/examples/word_count /usr/share/common-licenses/GPL-3
//
// Shows: an object attached to the node whose member functions are handlers, payloads, and how the order of messages
// tells that all of them have come.
#include <algorithm>
#include <am/am.hpp>
#include <am/safe_new.hpp>  // handlers put words into a table
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using Table = std::unordered_map<std::string, std::uint64_t>;

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Calls f with each word that begins in text[begin, end), in lower case.
void for_each_word(std::string_view text, std::size_t begin, std::size_t end,
                   const std::function<void(std::string&)>& f) {
  std::string word;
  std::size_t i = begin;
  while (i > 0 && i < end && is_letter(text[i - 1]) && is_letter(text[i])) ++i;  // begun before us: not ours
  while (i < end) {
    while (i < end && !is_letter(text[i])) ++i;
    if (i == end) return;
    word.clear();
    for (; i < text.size() && is_letter(text[i]); ++i)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
    f(word);
  }
}

std::string_view text_of(am::Payload payload) {
  return {reinterpret_cast<const char*>(payload.data()), payload.size()};
}

/// One node's part of the table, and at node 0 the result.
class WordCounter {
 public:
  // handlers
  void count(am::Request&, am::Payload word) { ++mine_[std::string(text_of(word))]; }
  void counted_all(am::Request&) { ++nodes_counted_; }
  void result(am::Request&, std::uint64_t times, am::Payload word) {
    all_[std::string(text_of(word))] += times;
  }
  void sent_results(am::Request&) { ++nodes_reported_; }

  void run(am::Node& node, std::string_view text) {
    const std::size_t begin = text.size() * node.id() / node.size();
    const std::size_t end = text.size() * (node.id() + 1) / node.size();
    for_each_word(text, begin, end, [&](std::string& word) {
      const auto keeper = static_cast<am::NodeId>(std::hash<std::string>()(word) % node.size());
      node.request<&WordCounter::count>(keeper, word);
    });
    // Messages between two nodes keep their order: who has this one from us has all our words.
    for (am::NodeId to = 0; to < node.size(); ++to) node.request<&WordCounter::counted_all>(to);
    node.wait_until([&] { return nodes_counted_ == node.size(); });

    for (const auto& [word, times] : mine_) node.request<&WordCounter::result>(0, times, word);
    node.request<&WordCounter::sent_results>(0);
    if (node.id() == 0) node.wait_until([&] { return nodes_reported_ == node.size(); });
  }

  [[nodiscard]] const Table& all() const { return all_; }

 private:
  Table mine_;
  Table all_;
  am::NodeId nodes_counted_ = 0;
  am::NodeId nodes_reported_ = 0;
};

void print_most_frequent(const Table& table) {
  std::vector<std::pair<std::uint64_t, std::string_view>> words;
  for (const auto& [word, times] : table) words.emplace_back(times, word);
  std::ranges::sort(words, std::greater<>());
  for (std::size_t i = 0; i < std::min<std::size_t>(10, words.size()); ++i)
    std::printf("%8llu  %.*s\n", static_cast<unsigned long long>(words[i].first),
                static_cast<int>(words[i].second.size()), words[i].second.data());
}

/// Node 0: the same by one node alone.
bool compare(const Table& table, std::string_view text) {
  Table alone;
  std::uint64_t words = 0;
  for_each_word(text, 0, text.size(), [&](std::string& word) {
    ++alone[word];
    ++words;
  });
  print_most_frequent(table);
  const bool same = alone == table;
  std::printf("%llu words, %zu different: %s\n", static_cast<unsigned long long>(words), table.size(),
              same ? "the same as one node alone counts" : "NOT what one node alone counts");
  return same;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv);
  if (argc != 2) {
    if (node.id() == 0) std::fprintf(stderr, "usage: word_count FILE\n");
    node.barrier();  // the first node that fails ends the job
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  std::ostringstream content;
  const bool empty = file.peek() == std::ifstream::traits_type::eof();
  if (file.bad() || !file.is_open() || (!empty && !(content << file.rdbuf()))) {  // bad: for example a folder
    std::fprintf(stderr, "word_count: node %u cannot read %s\n", node.id(), argv[1]);
    return 1;
  }
  const std::string text = content.str();

  WordCounter counter;
  node.attach(counter);
  node.barrier();  // all nodes have attached
  counter.run(node, text);
  const bool right = node.id() != 0 || compare(counter.all(), text);
  node.barrier();
  return right ? 0 : 1;
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
