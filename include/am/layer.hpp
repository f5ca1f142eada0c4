// How a layer above libam (Split-C, another communication model, a library of yours) keeps an object of its own on each node,
// beside the one that the program attaches (Node::attach): handlers reach it by state<T>(), and its member functions may be
// handlers. So a layer needs no globals, and its nodes may be threads of one process.
//
//   class Model {
//    public:
//     explicit Model(am::Node& node) : attached_(node, *this) {}
//     void arrived(am::Request& request, std::uint64_t value);     // node.request<&Model::arrived>(to, value)
//    private:
//     am::LayerState<Model> attached_;
//   };
//
// Used by the node's own thread, from the computation.
#pragma once

#include <am/node.hpp>

namespace am {

/// Attaches an object to the node as long as one lives. One per type and node: a second one of the same type is an am::Error.
template <class T>
class LayerState {
 public:
  LayerState(Node& node, T& object) : node_(node), entry_{impl::type_tag<T>(), &object, nullptr} {
    node.add_layer_(entry_);
  }
  ~LayerState() { node_.remove_layer_(entry_); }
  LayerState(const LayerState&) = delete;
  LayerState& operator=(const LayerState&) = delete;

 private:
  Node& node_;
  impl::LayerEntry entry_;
};

}  // namespace am
