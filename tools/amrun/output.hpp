// What nodes write, by way of amrun: reads what all nodes write to one stream and passes it on, on a thread
// of its own; labelled (-l) line by line, else as it comes; so that a reader that stands still never keeps amrun from watching its nodes. While that reader
// stands still nothing is read either: nodes wait in their own writes, and memory stays bounded.
//
// One for standard output, one for standard error. All but the thread's loop is called on the main thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "amrun/labels.hpp"

namespace amrun {

class Output {
 public:
  // Takes all of the text, and may wait for that. Returns 0, or errno when nobody takes it any more.
  using Sink = std::function<int(std::string_view text)>;

  explicit Output(Sink sink);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Before run(): a pipe for a node, whose lines get the label; without one all stays as it is. The result is the node's end,
  // which the caller closes. Throws Fault.
  int open_pipe(const std::string& label);
  // Starts the thread; signals must be blocked.
  void run();
  // A whole line of amrun's own between the lines of the nodes. Never waits.
  void say(const std::string& line);
  // To be called when no node is left: writes what is still on its way, and ends the thread. Returns errno of
  // the first write that failed, or 0.
  int finish();

 private:
  struct Source;

  void loop();
  bool read(Source& source);
  void take_said();
  void write_out();
  void close_source(const Source& source) const;
  void close_sources();

  const Sink sink_;
  int poller_;  // epoll: every source, and wake_
  int wake_;    // eventfd: something was said, or the end has come
  std::vector<std::unique_ptr<Source>> sources_;
  std::string pending_;
  std::vector<char> buffer_;
  int error_ = 0;
  std::mutex said_mutex_;
  std::string said_;
  std::atomic<bool> finishing_ = false;
  std::thread thread_;
};

// Writes to a descriptor; nobody else has to take care of its being non-blocking.
Output::Sink write_to(int fd);

}  // namespace amrun
