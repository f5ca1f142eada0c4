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
#include <span>
#include <utility>
#include <vector>

#include "transports/site.hpp"

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

  /// A pathway of the network's, where it has such. False: there is none left.
  [[nodiscard]] bool reserve(NodeId to) noexcept;
  void give_back(NodeId to) noexcept;
  /// Whether that node writes this one's rings by stores. Where the network has pathways it does: these carry words past the routers.
  [[nodiscard]] bool is_written_by_stores(NodeId from) noexcept;
  /// What lies there in a node's segment, where this node reads and writes it by loads and stores; else null.
  [[nodiscard]] std::byte* reach(NodeId home, std::uint64_t offset, std::size_t bytes);

  /// The program's objects may be gone: nothing of it is run any more. What this node passed on has no end.
  void leave() noexcept;

  void add(impl::StreamWriter& writer) { writers_[{writer.to_, writer.id_}] = &writer; }
  void remove(const impl::StreamWriter& writer) noexcept { writers_.erase({writer.to_, writer.id_}); }
  /// Makes its ring and offers it. Throws am::Error.
  void open(impl::StreamReader& reader, const impl::StreamType& type, std::size_t capacity);
  void close(impl::StreamReader& reader) noexcept;
  /// It reads another ring from now on, of the segment of `home`.
  void move(impl::StreamReader& reader, NodeId home, std::uint32_t id);
  /// Node `to` reads its ring from now on, and says when it is over.
  void hand_over(const impl::StreamReader& reader, NodeId to) noexcept;
  /// The ring that a splice hands over, where this node reaches it; else null.
  [[nodiscard]] impl::StreamRing* handed_over_by(const impl::StreamMark& splice) noexcept;

  /// Runs its on_values whenever it has something, from now on.
  void watch(impl::StreamReader& reader);
  /// Has it drain its ring in polls, from now on.
  void spools(impl::StreamReader& reader);
  void watch_no_more(const impl::StreamReader& reader) noexcept { watched_.erase(reader.number_); }
  void relay(std::unique_ptr<impl::StreamReader> in, std::unique_ptr<impl::StreamWriter> out);
  /// Sends what lies staged in a writing end.
  void flush_in_a_poll(impl::StreamWriter& writer);

  /// In a poll of the computation: sends what a full network has left here, and looks for what nobody may have told of. Returns how
  /// many of these were done.
  std::size_t look_again();
  [[nodiscard]] bool wants_looks() const noexcept {
    if (is_leaving_) return !unsaid_.empty();
    return !unsaid_.empty() || !unflushed_.empty() || !watched_.empty() || !relays_.empty() ||
           !spooling_.empty();
  }

  void say(NodeId to, const Word& word) noexcept;
  void hear(NodeId from, const Word& word);
  /// Destinations::destination, of values.
  [[nodiscard]] std::byte* destination(const Coming& message) noexcept;
  void take_values(NodeId from, std::uint64_t id, std::uint64_t at, Payload values);
  void take_mark(NodeId from, std::uint32_t id, impl::StreamMark mark);

  /// Polls until holds(), which node needed() alone can bring about: another one after a splice. `what`: a literal, for reports. `sleeps()` is the flag by which the other end knows that it is to wake this
  /// node, or null.
  template <class Needed, class Sleeps, class Holds>
  void wait(const char* what, const Needed& needed, const Sleeps& sleeps, const Holds& holds);

 private:
  using Key = std::pair<NodeId, std::uint64_t>;
  struct Ring {
    std::uint64_t offset = 0;  // in this node's segment
    bool closed = false;
    bool let_go = false;
    bool handed = false;  // over, to another node
  };

  [[nodiscard]] bool try_say(NodeId to, const Word& word) noexcept;
  void say_what_goes() noexcept;
  void hear_closed(NodeId from, const Word& word);
  void hear_cut(NodeId from, std::uint32_t id);
  void is_over(NodeId home, std::uint32_t id) noexcept;
  [[nodiscard]] impl::StreamRing& ring_at(std::uint64_t offset);
  void give_back_rings();
  void post_values(impl::StreamReader* reader);
  void run_on_values(std::uint32_t number);
  void watch_again(std::uint32_t number);
  [[nodiscard]] std::size_t flush_what_is_due();
  void look_at_watched();
  /// How many values and marks were passed on.
  std::size_t run_relays();
  std::size_t drain();
  [[nodiscard]] impl::StreamReader* reader_of(NodeId home, std::uint64_t id) const noexcept;

  Engine& engine_;
  std::pmr::vector<Offer> offers_;
  std::pmr::map<Key, impl::StreamWriter*> writers_;
  std::pmr::map<Key, impl::StreamReader*> readers_;  // by where the ring lies
  std::pmr::map<std::uint32_t, Ring> rings_;         // in this node's segment
  std::pmr::deque<std::pair<NodeId, Word>> unsaid_;
  std::pmr::vector<Key> unflushed_;                            // of writers_
  std::pmr::map<std::uint32_t, impl::StreamReader*> watched_;  // by number: those with on_values
  std::pmr::map<std::uint32_t, impl::StreamReader*> spooling_;
  unsigned vain_drains_ = 0;
  std::pmr::vector<std::uint32_t> posted_;  // of those that have been watched
  std::uint32_t last_looked_at_ = 0;        // of these
  std::list<std::unique_ptr<StreamRelay>> relays_;
  std::pmr::map<NodeId, std::span<std::byte>> mapped_;  // segments, where there are pathways
  bool is_leaving_ = false;
  std::uint32_t last_id_ = 0;
  std::uint32_t last_number_ = 0;
};

}  // namespace am::core
