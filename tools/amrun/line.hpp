// A part's end of the way to the head (frames.hpp; the head's end is LineToPart): what the main thread and the outputs send, and a
// thread of its own that takes what comes.
#pragma once

#include <am/types.hpp>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "amrun/frames.hpp"
#include "core/job/several_hosts.hpp"
#include "host/descriptor.hpp"
#include "host/memory.hpp"

namespace amrun {

class Line {
 public:
  // Of what nodes wrote, so much is under way to the head's own outputs, for each of the two: so the head goes on listening to its
  // parts when nobody reads what it writes.
  static constexpr std::size_t window_bytes = std::size_t{256} << 10;

  // Both descriptors outlive this. Throws Fault.
  Line(int in, int out);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Any thread. Waits while the head does not read, which is never for long.
  void send(Kind kind, std::string_view body);
  void greet();
  // A sink for what nodes write: waits until the head has room for it. Returns 0, or errno.
  int pass(Stream stream, std::string_view text);

  // The next frame of that kind; none at the end. Others wait until run() takes them. Before run() only. Throws Fault.
  std::optional<Frame> receive(Kind kind);

  // From here on a thread takes what comes, and tells the head when the nodes of this host have joined. `input`: a pipe to node 0,
  // or none. `notify` is called when there is something to take for the supervisor.
  void run(const am::core::Placement& placement, std::shared_ptr<am::host::Memory> memory,
           am::host::Descriptor input, std::function<void()> notify);
  void stop();

  // What the head wants of the supervisor.
  struct Wishes {
    bool end = false;
    bool abandon = false;  // the head is gone
    std::vector<am::NodeId> lost;
  };
  Wishes take_wishes();

 private:
  struct Room {
    std::size_t bytes = window_bytes;
    int closed = 0;  // errno: nobody takes it any more
  };

  void loop();
  [[nodiscard]] bool read_more();
  void take_all();
  // Of the facts; how long to wait until the next look, in ms, as poll takes it.
  int tell_facts();
  void take(const Frame& frame);
  void write_input();
  void give_up();
  template <class F>
  void wish(F change);
  template <class F>
  void change_room(std::uint64_t stream, F change);

  const int in_;
  const int out_;
  const am::host::Descriptor wake_;
  std::vector<char> buffer_;  // not on a stack, of which a thread may have little (ulimit -s)
  FrameReader reader_;
  std::deque<Frame> set_aside_;
  std::mutex sending_;

  std::mutex room_mutex_;
  std::condition_variable room_changed_;
  std::array<Room, 2> rooms_;  // by Stream

  std::mutex wishes_mutex_;
  Wishes wishes_;
  std::function<void()> notify_;

  // The thread's own.
  const am::core::Placement* placement_ = nullptr;
  std::shared_ptr<am::host::Memory> memory_;
  bool told_facts_ = false;
  int nap_ms_ = 1;
  am::host::Descriptor input_;
  std::string input_pending_;
  bool input_owed_ = false;  // the head waits to hear that it was taken
  bool input_ends_ = false;

  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace amrun
