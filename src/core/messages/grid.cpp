// Where the nodes lie in a grid: row after row.
#include <algorithm>
#include <am/error.hpp>
#include <am/multicast.hpp>
#include <string>

#include "host/counted.hpp"

namespace am {

namespace {

std::string sides(NodeId rows, NodeId columns) {
  return host::counted(rows, "row") + " of " + host::counted(columns, "node");
}

}  // namespace

Grid::Grid(const Node& node, NodeId rows, NodeId columns) : self_(node.id()), rows_(rows), columns_(columns) {
  if (rows == 0 || columns == 0)
    throw Error("lay out a grid", sides(rows, columns) + " hold nobody",
                "give it at least one row and one column");
  if (std::uint64_t{rows} * columns > node.size()) {
    throw Error("lay out a grid",
                sides(rows, columns) + " do not fit a job of " + std::to_string(node.size()),
                "start more nodes or choose a smaller grid");
  }
}

NodeId Grid::at(NodeId row, NodeId column) const {
  if (row >= rows_ || column >= columns_) {
    throw Error("find a place in a grid",
                "it has " + sides(rows_, columns_) + ", not row " + std::to_string(row) + ", column " +
                    std::to_string(column),
                "both count from 0");
  }
  return row * columns_ + column;
}

NodeId Grid::row_of(NodeId node) const {
  if (node >= rows_ * columns_) {
    throw Error("find a node in a grid",
                "node " + std::to_string(node) + " lies outside its " + sides(rows_, columns_),
                "only the first nodes of a job are in a grid that is smaller than the job");
  }
  return node / columns_;
}

NodeId Grid::column_of(NodeId node) const { return node - row_of(node) * columns_; }

Group Grid::patch(NodeId row_a, NodeId column_a, NodeId row_b, NodeId column_b) const {
  const auto [top, bottom] = std::minmax(row_a, row_b);
  const auto [left, right] = std::minmax(column_a, column_b);
  static_cast<void>(at(bottom, right));
  std::vector<NodeId> members;
  members.reserve(std::size_t{bottom - top + 1} * (right - left + 1));
  for (NodeId row = top; row <= bottom; ++row) {
    for (NodeId column = left; column <= right; ++column) members.push_back(at(row, column));
  }
  return Group(std::move(members));
}

}  // namespace am
