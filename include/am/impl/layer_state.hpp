// An object that a layer above libam has attached to a node, in the list of those that are attached (am::LayerState).
#pragma once

namespace am::impl {

struct LayerEntry {
  const void* type;  ///< type_tag of the object
  void* object;
  LayerEntry* next;
};

}  // namespace am::impl
