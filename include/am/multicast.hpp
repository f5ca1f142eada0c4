// One message to many nodes: groups, the rows, columns and patches of a grid laid over the nodes, and the send.
//
//   node.multicast<h>(am::Group{1, 4, 7}, arguments...);
//   node.multicast<h>(std::vector<am::NodeId>{7, 1, 4}, arguments...);
//   am::Grid grid(node, 4, 4);
//   node.multicast<h>(grid.row(), arguments...);
//
// Every member gets the message once; the sender too, if it is a member. Request::is_multicast and Reply::is_multicast
// are true there, and from() is the node that called multicast. Emulated networks that have multicasts bring it by these: CARE's to any
// list of members, 15 by one message; the nCUBE/2's to subcubes; the T1's to a row or a column, with a copy at each node on the way, and
// to a patch, of whatever shape, in two phases. On other networks, and to members whom these do not reach, it goes down a tree of members
// (src/core/messages/multicast_sender.hpp). A member that has to pass it on does so only when it polls.
//
// Order: multicasts of one node to the same members at one priority arrive in the order in which they were sent. Nothing is
// said about a multicast and an ordinary message, or multicasts to different members: they may take different ways. (Over the T1's
// network whom the sender reaches itself gets all of these in order: it orders what goes "directly" from A to B, A.1.) A member
// that dies or leaves may take along what it had not yet passed on.
//
// Source: T1 report, section 3.9 "Multicast", appendix A.8; groups are more general than its rows and columns.
#pragma once

#include <algorithm>
#include <am/handler.hpp>
#include <am/node.hpp>
#include <am/types.hpp>
#include <initializer_list>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#pragma push_macro("Status")  // types.hpp
#undef Status

namespace am {

/// A set of nodes: any list, without duplicates, in ascending order. A plain value: copy it, keep it, use it on any
/// thread. Whether its members exist is checked when something is sent to it.
class Group {
 public:
  Group() = default;
  Group(std::initializer_list<NodeId> members) : Group(std::vector<NodeId>(members)) {}
  explicit Group(std::vector<NodeId> members) : members_(std::move(members)) {
    std::sort(members_.begin(), members_.end());
    members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
  }
  /// Every node of the job that `node` belongs to.
  [[nodiscard]] static Group all(const Node& node) {
    std::vector<NodeId> ids(node.size());
    std::iota(ids.begin(), ids.end(), NodeId{0});
    return Group(std::move(ids));
  }

  /// In ascending order.
  [[nodiscard]] std::span<const NodeId> members() const noexcept { return members_; }
  /// How many members there are.
  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
  /// Whether there is none.
  [[nodiscard]] bool empty() const noexcept { return members_.empty(); }
  /// Whether `node` is a member.
  [[nodiscard]] bool contains(NodeId node) const noexcept {
    return std::binary_search(members_.begin(), members_.end(), node);
  }
  /// The same members without `node`: `grid.row().without(node.id())`, since a T1 never sends to itself.
  [[nodiscard]] Group without(NodeId node) const {
    Group others = *this;
    std::erase(others.members_, node);
    return others;
  }

  friend bool operator==(const Group&, const Group&) = default;

 private:
  std::vector<NodeId> members_;
};

/// The first rows * columns nodes of a job as a grid: row after row, so node r * columns + c is at (r, c). A plain value.
class Grid {
 public:
  /// Throws am::Error when either side is 0 or the grid has more places than the job has nodes.
  Grid(const Node& node, NodeId rows, NodeId columns);

  /// How many rows there are.
  [[nodiscard]] NodeId rows() const noexcept { return rows_; }
  /// How many columns there are.
  [[nodiscard]] NodeId columns() const noexcept { return columns_; }
  /// The node at a place. As every function here, throws am::Error for a place outside the grid.
  [[nodiscard]] NodeId at(NodeId row, NodeId column) const;
  [[nodiscard]] NodeId row_of(NodeId node) const;
  [[nodiscard]] NodeId column_of(NodeId node) const;

  /// The row or column of the node that made this grid; throws am::Error if the grid does not reach to it.
  [[nodiscard]] Group row() const { return row(row_of(self_)); }
  [[nodiscard]] Group column() const { return column(column_of(self_)); }
  [[nodiscard]] Group row(NodeId row) const { return patch(row, 0, row, columns_ - 1); }
  [[nodiscard]] Group column(NodeId column) const { return patch(0, column, rows_ - 1, column); }
  /// The rectangle with these two corners, both within it. In any order.
  [[nodiscard]] Group patch(NodeId row_a, NodeId column_a, NodeId row_b, NodeId column_b) const;

 private:
  NodeId self_;
  NodeId rows_;
  NodeId columns_;
};

template <auto H, class F, class... A>
Status Node::multicast(std::span<const NodeId> members, A&&... args) {
  using Traits = impl::SendTraits<typename impl::Handler<H>::Traits, A...>;
  return multicast_(pack_<H, F, Traits>(id_, std::forward<A>(args)...), members, true);
}

template <auto H, class F, class... A>
Status Node::try_multicast(std::span<const NodeId> members, A&&... args) {
  using Traits = impl::SendTraits<typename impl::Handler<H>::Traits, A...>;
  return multicast_(pack_<H, F, Traits>(id_, std::forward<A>(args)...), members, false);
}

template <auto H, class F, class... A>
Status Node::multicast(const Group& group, A&&... args) {
  return multicast<H, F>(group.members(), std::forward<A>(args)...);
}

template <auto H, class F, class... A>
Status Node::try_multicast(const Group& group, A&&... args) {
  return try_multicast<H, F>(group.members(), std::forward<A>(args)...);
}

}  // namespace am

#pragma pop_macro("Status")
