// Whether the program's new and delete are those of am/safe_new.hpp.
#pragma once

namespace am::impl {

/// Set before main by that header; read when a node starts.
extern bool handlers_may_allocate;

}  // namespace am::impl
