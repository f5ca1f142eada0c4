#pragma once

namespace am {
class Node;
}

namespace am::impl {

/// The node of this thread; null where there is none.
Node* current_node() noexcept;

}  // namespace am::impl
