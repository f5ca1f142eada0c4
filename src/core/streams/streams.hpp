// The streams of one node (am/stream.hpp): which ends are open here, and what ends of different nodes tell each other.
//
// Opening. The reading end makes the ring and offers it to the writer's node; the writing end takes the offer. It says so, and whether it
// reaches the ring itself or fills it by messages. Whichever: a ring is given back when its reader has closed and its writer has let go.
//
// Messages. What a writer sends, values and marks, goes on the low network, in order. All else is a Word on the high one: no send of
// values holds it up. A Word that finds that network full waits here (`unsaid_`); a post sends it.
//
// Used by whoever is in the node.
#pragma once

#include <am/impl/stream_ends.hpp>
#include <am/payload.hpp>
#include <am/types.hpp>
#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

namespace am::core {

class Engine;
class StreamRelay;

class Streams {
 public:
  /// What one end tells the other. `id` names the ring, on the node in whose segment it lies.
  struct Word {
    enum class Kind : std::uint32_t {
      offer,   ///< to the writer: tag, capacity, type; `at`: where the ring lies
      taken,   ///< to the reader: the ring is written by stores, or (`at` not 0) by messages
      cut,     ///< to the reader of a ring of node `at`: nothing will come
      wake,    ///< to who sleeps, or has on_values; `at`: on which node the ring lies
      credit,  ///< to the writer, by messages: `at` values and `tag` marks were read
      closed,  ///< to the writer: the reader takes nothing any more
      let_go,  ///< to the reader: the writer does not touch the ring any more
      over,    ///< to the ring's node: who took it over has closed it
    };
    Kind kind{};
    std::uint32_t id = 0;
    std::uint64_t at = 0;
    std::uint64_t tag = 0;
    std::uint64_t capacity = 0;
    impl::StreamType type{};
  };
  struct Offer {
    NodeId from = 0;
    Word word{};
  };

  explicit Streams(Engine& engine);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  [[nodiscard]] Engine& engine() noexcept { return engine_; }
  [[nodiscard]] Node& node() noexcept;

  [[nodiscard]] const Offer* find_offer(NodeId from, std::uint64_t tag) const noexcept;
  /// Removes it.
  [[nodiscard]] std::optional<Offer> take_offer(NodeId from, std::uint64_t tag);

  void add(impl::StreamWriter& writer) { writers_[{writer.to_, writer.id_}] = &writer; }
  void remove(const impl::StreamWriter& writer) noexcept { writers_.erase({writer.to_, writer.id_}); }
  /// Makes its ring and offers it. Throws am::Error.
  void open(impl::StreamReader& reader, const impl::StreamType& type, std::size_t capacity);
  void close(impl::StreamReader& reader) noexcept;
  /// It reads another ring from now on, of the segment of `home`.
  void move(impl::StreamReader& reader, NodeId home, std::uint32_t id);
  /// Another node reads its ring from now on, and says when it is over.
  void hand_over(const impl::StreamReader& reader) noexcept;

  /// Runs its on_values whenever it has something, from now on.
  void watch(impl::StreamReader& reader);
  void relay(std::unique_ptr<impl::StreamReader> in, std::unique_ptr<impl::StreamWriter> out);
  /// Sends what lies staged in a writing end, in a post.
  void flush_later(const impl::StreamWriter& writer);

  void say(NodeId to, const Word& word) noexcept;
  void hear(NodeId from, const Word& word);
  void take_values(NodeId from, std::uint32_t id, Payload values);
  void take_mark(NodeId from, std::uint32_t id, impl::StreamMark mark);

  /// Polls until holds(), which `needed` alone can bring about. `what`: a literal, for reports. `sleeps()` is the flag by which the other end knows that it is to wake this
  /// node, or null.
  template <class Sleeps, class Holds>
  void wait(const char* what, NodeId needed, const Sleeps& sleeps, const Holds& holds);

 private:
  using Key = std::pair<NodeId, std::uint32_t>;
  struct Ring {
    std::uint64_t offset = 0;  // in this node's segment
    bool closed = false;
    bool let_go = false;
  };

  [[nodiscard]] bool try_say(NodeId to, const Word& word) noexcept;
  void say_rest();
  void hear_cut(NodeId home, const Word& word);
  void give_back_rings();
  void post_values(NodeId home, std::uint32_t id);
  void run_on_values(NodeId home, std::uint32_t id);
  void run_relays();
  void run_relays_later();
  [[nodiscard]] impl::StreamReader* reader_of(NodeId home, std::uint32_t id) const noexcept;

  Engine& engine_;
  std::pmr::vector<Offer> offers_;
  std::pmr::map<Key, impl::StreamWriter*> writers_;
  std::pmr::map<Key, impl::StreamReader*> readers_;  // by where the ring lies
  std::pmr::map<std::uint32_t, Ring> rings_;         // in this node's segment
  std::pmr::deque<std::pair<NodeId, Word>> unsaid_;
  std::list<std::unique_ptr<StreamRelay>> relays_;
  std::uint32_t last_id_ = 0;
  bool rest_is_posted_ = false;
  bool relays_are_posted_ = false;
};

}  // namespace am::core
