#include "amrun/frames.hpp"

#include <numeric>

#include "amrun/fault.hpp"
#include "core/settings/setting_value.hpp"
#include "host/layout.hpp"
#include "transports/number.hpp"

namespace amrun {
namespace {

constexpr std::size_t head_bytes = 1 + sizeof(std::uint32_t);

template <class Number>
Number read_at(std::string_view from, std::size_t at) {
  return am::number_at<Number>(reinterpret_cast<const std::byte*>(from.data()) + at);
}

Fault nonsense() { return {failed, "what came from another amrun makes no sense: is it the same version?"}; }

Body& put_all(Body& body, const std::vector<std::string>& texts) {
  body.put(texts.size());
  for (const std::string& text : texts) body.put(text);
  return body;
}

std::vector<std::string> texts_of(BodyReader& body) {
  std::vector<std::string> texts;
  for (std::uint64_t left = body.number(); left > 0; --left) texts.push_back(body.text());
  return texts;
}

}  // namespace

std::string encode(Kind kind, std::string_view body) {
  std::string frame(1, static_cast<char>(kind));
  am::append_number(frame, static_cast<std::uint32_t>(body.size()));
  return frame += body;
}

std::optional<Frame> FrameReader::next() {
  if (bytes_.size() < head_bytes) return std::nullopt;
  const auto kind = static_cast<Kind>(bytes_[0]);
  const std::size_t length = read_at<std::uint32_t>(bytes_, 1);
  if (kind < Kind::order || kind > Kind::ended || length > longest) throw nonsense();
  if (bytes_.size() < head_bytes + length) return std::nullopt;
  Frame frame{kind, bytes_.substr(head_bytes, length)};
  bytes_.erase(0, head_bytes + length);
  return frame;
}

bool FrameReader::skip_greeting() {
  constexpr std::size_t longest_noise = std::size_t{64} << 10;
  if (bytes_.starts_with(part_greeting)) {
    bytes_.erase(0, part_greeting.size());
    return true;
  }
  if (const std::size_t at = bytes_.find(part_name); at != std::string::npos) {
    bytes_.erase(0, at);
    if (bytes_.starts_with(part_greeting)) return skip_greeting();
    if (bytes_.find('\n') == std::string::npos) return false;
    throw Fault(failed, "the amrun there is another version's");
  }
  if (bytes_.size() > longest_noise)
    throw Fault(failed, "what was started there is no amrun: it writes " +
                            am::core::in_quotes(first_line().substr(0, 80)));
  return false;
}

Body& Body::put(std::uint64_t number) {
  am::append_number(bytes_, number);
  return *this;
}

Body& Body::put(std::string_view text) {
  put(text.size());
  bytes_ += text;
  return *this;
}

std::uint64_t BodyReader::number() {
  if (bytes_.size() < sizeof(std::uint64_t)) throw nonsense();
  const auto number = read_at<std::uint64_t>(bytes_, 0);
  bytes_.remove_prefix(sizeof number);
  return number;
}

std::string BodyReader::text() {
  const std::uint64_t length = number();
  if (bytes_.size() < length) throw nonsense();
  std::string text(bytes_.substr(0, length));
  bytes_.remove_prefix(length);
  return text;
}

std::string Order::encode() const {
  Body body;
  body.put(host).put(placement.own).put(placement.hosts.size());
  for (const auto& nodes : placement.hosts) body.put(nodes.size());
  body.put(job_name).put(job_key);
  put_all(body, folders);
  put_all(body, program);
  put_all(body, environment);
  body.put(static_cast<std::uint64_t>(bind)).put(report_bindings ? 1 : 0).put(label ? 1 : 0).put(watchdog_ns);
  return body.bytes();
}

Order Order::decode(std::string_view bytes) {
  BodyReader body(bytes);
  Order order;
  order.host = body.text();
  order.placement.own = static_cast<std::uint32_t>(body.number());
  am::NodeId next = 0;
  for (std::uint64_t hosts = body.number(); hosts > 0; --hosts) {
    const std::uint64_t nodes = body.number();
    if (nodes == 0 || nodes > am::host::max_nodes - next) throw nonsense();
    std::vector<am::NodeId>& here = order.placement.hosts.emplace_back(nodes);
    std::iota(here.begin(), here.end(), next);
    next += static_cast<am::NodeId>(nodes);
  }
  if (order.placement.own >= order.placement.hosts.size()) throw nonsense();
  order.job_name = body.text();
  order.job_key = body.text();
  order.folders = texts_of(body);
  order.program = texts_of(body);
  order.environment = texts_of(body);
  order.bind = static_cast<Bind>(body.number());
  order.report_bindings = body.number() != 0;
  order.label = body.number() != 0;
  order.watchdog_ns = body.number();
  if (order.job_name.size() != 16 || order.job_key.size() != 32 || order.program.empty()) throw nonsense();
  return order;
}

std::string encode(const Said& said) {
  Body body;
  body.put(said.follows ? 1 : 0).put(said.line);
  return body.bytes();
}
std::string encode(const Failed& heard) {
  Body body;
  body.put(heard.follows ? 1 : 0).put(static_cast<std::uint64_t>(heard.exit_code));
  return body.bytes();
}
std::string encode(const Ended& ended) {
  Body body;
  body.put(static_cast<std::uint64_t>(ended.exit_code)).put(static_cast<std::uint64_t>(ended.first_failure));
  body.put(ended.any_success ? 1 : 0)
      .put(ended.nobody_joined ? 1 : 0)
      .put(static_cast<std::uint64_t>(ended.by_signal))
      .put(ended.dead.size());
  for (const am::NodeId node : ended.dead) body.put(node);
  return body.bytes();
}

Said decode_said(std::string_view bytes) {
  BodyReader body(bytes);
  const bool follows = body.number() != 0;
  return {follows, body.text()};
}
Failed decode_failed(std::string_view bytes) {
  BodyReader body(bytes);
  const bool follows = body.number() != 0;
  return {follows, static_cast<int>(body.number())};
}
Ended decode_ended(std::string_view bytes) {
  BodyReader body(bytes);
  Ended ended;
  ended.exit_code = static_cast<int>(body.number());
  ended.first_failure = static_cast<int>(body.number());
  ended.any_success = body.number() != 0;
  ended.nobody_joined = body.number() != 0;
  ended.by_signal = static_cast<int>(body.number());
  for (std::uint64_t left = body.number(); left > 0; --left)
    ended.dead.push_back(static_cast<am::NodeId>(body.number()));
  return ended;
}

}  // namespace amrun
