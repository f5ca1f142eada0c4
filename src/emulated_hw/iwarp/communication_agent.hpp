// The communication agent of an iWarp cell: twenty input and twenty output channels, the crossbar between them, and what routes pathways and
// messages by it (Borkar et al. 1990, 5 to 7.3).
//
//   bus in --> [queue of 8] --+                   +--> output channel --+--> bus out, a word in 2 cycles
//   bus in --> [queue of 8] --+--  crossbar  -----+--> output channel --+    (round robin over what is ready)
//   own    --> [queue of 8] --+                   +--> ...
//                    ^        +--> gates of the program, and of the memory agent
//
// A transmitter counts the free slots of the queue behind each of its output channels, and sends no word for which there is none. A dequeue
// signal brings a slot back.
//
// A pathway begin marker is matched against the CAM (Sign, in word.hpp). It goes straight on, turns, or ends here, and takes a free output
// channel of its pool; without one it is "blocked and repeated". Its end marker frees the channels behind it. The open pool's messages are such
// pathways, too.
//
// A joint links a pathway that ends here to one that begins here, its default output. A message that the CAM does not match goes on there. One
// that it does is split off and left to the program, until that restores the link. Several inputs of one output have it message by message.
//
// Assumed: blocked begin markers of a direction and pool have its channels in turns; a pathway without a way on is reported and discarded; a
// message's header costs nothing extra in cells of its pathway that are no joints.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "emulated_hw/iwarp/channel.hpp"
#include "emulated_hw/iwarp/costs.hpp"
#include "emulated_hw/iwarp/match_cam.hpp"
#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/calendar.hpp"
#include "emulated_hw/kit/waits.hpp"

namespace am::iwarp {

/// What the program may want to be told of (7.3): a marker of that tag, or a pathway that does not get on from here.
enum class Event : std::uint8_t { pathway_begin, pathway_end, message_begin, message_end, application, lost };
inline constexpr unsigned events = 6;
[[nodiscard]] constexpr Event event_of(Tag tag) noexcept {
  return static_cast<Event>(static_cast<unsigned>(tag) - 1);  // tags are in the same order, behind plain data
}
static_assert(event_of(Tag::application) == Event::application);

/// All busses of an array: what is on its way, and counts.
struct Busses {
  struct Setting {
    unsigned queue = queue_words;  ///< of each input channel: 1 to 8
    unsigned word = costs::word;
    unsigned dequeue = costs::dequeue;
  };
  struct Flight {
    ChannelEnd to{};
    Word word{};
  };

  explicit Busses(const Setting& given)
      : setting(given), words(costs::bus + 1), dequeues(given.dequeue + 1) {}

  Setting setting;
  Cycle now = 0;
  kit::DelayLine<Flight> words;
  kit::DelayLine<ChannelEnd> dequeues;
  std::uint64_t under_way = 0;  ///< words in queues and on busses
  std::uint64_t fingerprint = 0;
  Cycle last_move = 0;
  /// Is told of each word that leaves a cell, for a trace.
  std::function<void(CellNumber, Direction, const Word&)> watcher{};
};

class CommunicationAgent {
 public:
  CommunicationAgent(CellNumber cell, Busses& busses);

  [[nodiscard]] CellNumber cell() const noexcept { return cell_; }
  [[nodiscard]] Cycle now() const noexcept { return busses_.now; }
  [[nodiscard]] const Input& input(Channel channel) const { return inputs_.at(channel); }
  [[nodiscard]] const Output& output(Channel channel) const { return outputs_.at(channel); }
  [[nodiscard]] std::size_t outputs() const noexcept { return outputs_.size(); }
  [[nodiscard]] MatchCam& cam() noexcept { return cam_; }
  /// At the end of that bus, or nowhere.
  [[nodiscard]] CellNumber neighbour(Direction bus) const noexcept {
    const kit::Requests on_bus = on_bus_[port(bus)];
    return on_bus == 0 ? kit::nowhere : outputs_[kit::first_of(on_bus)].to.cell;
  }

  // -- static allocation; throws std::length_error where there is no channel left

  Channel add_output(Direction bus, Pool pool);
  Channel add_input(Direction bus, ChannelEnd from);
  /// All that are left are the cell's own.
  void add_own_inputs();
  void leads_to(Channel output, ChannelEnd to) { outputs_[output].to = to; }

  // -- what the computation agent does

  /// An own channel that nobody uses; it is in use then, until its pathway has ended or it is released.
  [[nodiscard]] std::optional<Channel> take_own();
  void release_own(Channel own) { inputs_[own].is_in_use = false; }
  /// A free output channel, linked to that own one; or none.
  [[nodiscard]] std::optional<Channel> assign(Channel own, Direction bus, Pool pool);
  [[nodiscard]] unsigned room(Channel own) const noexcept {
    return busses_.setting.queue - static_cast<unsigned>(inputs_[own].queue.size());
  }
  void push(Channel own, const Word& word);
  /// How many words may be taken from there, up to the end of the pathway.
  [[nodiscard]] unsigned readable(Channel channel) const;
  [[nodiscard]] const Word& front(Channel channel, std::size_t index = 0) const noexcept {
    return inputs_[channel].queue[index].word;
  }
  Word pop(Channel channel);
  /// A gate takes its words, or none does.
  void bind(Channel channel, bool is_bound) { inputs_.at(channel).is_bound = is_bound; }

  /// `output`, of a pathway from here, is the default output of a pathway that ends here. It has nothing of its own left to send: may_redirect().
  /// Throws std::invalid_argument where they are not that.
  void link(Channel channel, Channel output);
  /// The program has taken the message that was split off.
  void restore(Channel channel);
  /// What is left of the message goes to that output, up to its end, behind what is there: may_redirect().
  void redirect(Channel channel, Channel output);
  /// What was on the way to it from this cell's own channel, or from a message before, has left.
  [[nodiscard]] bool may_redirect(Channel output) const {
    const Output& out = outputs_.at(output);
    return out.is_assigned && inputs_[out.owner].queue.empty() &&
           (out.holder == no_channel || out.holder == out.owner);
  }

  /// Those channels' events are posted from now on; of pathways' events, all channels' or none's.
  void watch(Event event, kit::Requests channels) { watched_[static_cast<unsigned>(event)] = channels; }
  [[nodiscard]] kit::Requests posted(Event event) const noexcept {
    return posted_[static_cast<unsigned>(event)];
  }
  void clear(Event event, Channel channel) noexcept {
    posted_[static_cast<unsigned>(event)] &= ~kit::request(channel);
  }

  // -- the array's

  void arrives(Channel channel, const Word& word);
  void dequeued(Channel output) { ++outputs_[output].room; }
  [[nodiscard]] bool has_nothing_to_do() const noexcept { return full_ == 0; }
  void step();
  /// Adds the channel, if it has words that do not get on.
  void add_waits(Channel channel, kit::Waits& waits) const;
  [[nodiscard]] static std::string place(const ChannelEnd& end) {
    return "cell " + std::to_string(end.cell) + " channel " + std::to_string(end.channel);
  }
  /// The place of one that is not there yet.
  [[nodiscard]] static std::string pathway_of(CellNumber origin) {
    return "the pathway of cell " + std::to_string(origin);
  }

 private:
  [[nodiscard]] static unsigned request_of(Direction bus, Pool pool) noexcept {
    return port(bus) * pools + static_cast<unsigned>(pool);
  }
  [[nodiscard]] const Word& head(const Input& input) const noexcept { return input.queue.front().word; }
  void check(std::size_t channels) const;
  void go_on(Channel channel);
  void route(Channel channel);
  void ask_for(Channel channel, Direction bus, Pool pool);
  void lose(Channel channel);
  void at_its_end(Channel channel);
  void post(Event event, Channel channel) noexcept;
  void announce(Channel channel);
  void grant();
  [[nodiscard]] std::optional<Channel> free_output(Direction bus, Pool pool) const;
  void take(Channel output, Channel channel);
  [[nodiscard]] bool may_leave(const Output& output) const;
  void transmit(Direction bus);
  void send(Output& output, Channel number);
  void pathway_has_left(Channel output);
  void message_has_left(Channel output);
  Word dequeue(Channel channel);

  const CellNumber cell_;
  Busses& busses_;
  MatchCam cam_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  kit::Requests full_ = 0;                          // inputs that have words
  std::array<kit::Requests, directions> on_bus_{};  // outputs
  std::array<Cycle, directions> bus_free_at_{};
  std::array<kit::RoundRobin, directions> turns_{};         // of outputs, by bus
  std::array<kit::Requests, directions * pools> asking_{};  // inputs that ask for a channel in this cycle
  std::array<kit::RoundRobin, directions * pools> set_ups_{};
  std::array<kit::Requests, most_channels> joining_{};  // inputs whose message asks for that output
  std::array<kit::RoundRobin, most_channels> joints_{};
  std::array<kit::Requests, events> watched_{};
  std::array<kit::Requests, events> posted_{};
};

}  // namespace am::iwarp
