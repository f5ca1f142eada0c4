// Bulk transfers: any number of bytes, as the language's library has them. Where the memory is mapped each is one memcpy.
//
// bulk_read and bulk_write wait; bulk_get and bulk_put end with sync(); bulk_store ends where the bytes arrive (store_sync,
// all_store_sync). Both ranges stay untouched until then, except that the source of a put or a store may be used again at once.
// Two ranges that overlap are an am::Error; so are more bytes than the segment has. None at all are nothing.
//
// Each takes a range of values as well, in place of a pointer and a number of bytes: bulk_read(values, from), where `values` is a
// std::span, or what converts to one (a std::vector, a std::array, a block_array's mine()).
#pragma once

#include <am/global.hpp>
#include <am/splitc/global_ptr.hpp>
#include <am/splitc/store.hpp>
#include <am/splitc/world.hpp>
#include <cstddef>
#include <span>

namespace am::splitc {

namespace impl {

void bulk_get(World& world, void* into, am::GlobalPtr<const std::byte> from, std::size_t bytes,
              Counter* counter);
void bulk_put(World& world, am::GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
              Counter* counter);

template <Pointer P>
using ValuesInto = std::span<typename P::value_type>;
template <Pointer P>
using ValuesFrom = std::span<const typename P::value_type>;

/// Of a range; more than any segment has where that is no number.
template <class T>
constexpr std::size_t bytes_of(std::span<T> values) noexcept {
  return am::impl::bytes_of(values.size(), sizeof(T));
}

}  // namespace impl

/// Reads, and waits until the bytes are here.
template <Pointer P>
void bulk_read(typename P::value_type* into, P from, std::size_t bytes) {
  impl::bulk_get(world(), into, from.place().template as<const std::byte>(), bytes, nullptr);
}
/// Writes, and waits until the bytes are there.
template <Pointer P>
void bulk_write(P to, const typename P::value_type* from, std::size_t bytes) {
  if constexpr (impl::check_writable<typename P::element_type>())
    impl::bulk_put(world(), to.place().template as<std::byte>(), from, bytes, nullptr);
}
template <Pointer P>
void bulk_read(impl::ValuesInto<P> into, P from) {
  bulk_read(into.data(), from, impl::bytes_of(into));
}
template <Pointer P>
void bulk_write(P to, impl::ValuesFrom<P> from) {
  bulk_write(to, from.data(), impl::bytes_of(from));
}

/// Begins to read; sync() waits for it.
template <Pointer P>
void bulk_get(typename P::value_type* into, P from, std::size_t bytes, Counter& counter) {
  impl::bulk_get(world(), into, from.place().template as<const std::byte>(), bytes, &counter);
}
template <Pointer P>
void bulk_get(typename P::value_type* into, P from, std::size_t bytes) {
  bulk_get(into, from, bytes, world().phase());
}
template <Pointer P>
void bulk_get(impl::ValuesInto<P> into, P from, Counter& counter) {
  bulk_get(into.data(), from, impl::bytes_of(into), counter);
}
template <Pointer P>
void bulk_get(impl::ValuesInto<P> into, P from) {
  bulk_get(into, from, world().phase());
}

/// Begins to write; sync() waits for it.
template <Pointer P>
void bulk_put(P to, const typename P::value_type* from, std::size_t bytes, Counter& counter) {
  if constexpr (impl::check_writable<typename P::element_type>())
    impl::bulk_put(world(), to.place().template as<std::byte>(), from, bytes, &counter);
}
template <Pointer P>
void bulk_put(P to, const typename P::value_type* from, std::size_t bytes) {
  bulk_put(to, from, bytes, world().phase());
}
template <Pointer P>
void bulk_put(P to, impl::ValuesFrom<P> from, Counter& counter) {
  bulk_put(to, from.data(), impl::bytes_of(from), counter);
}
template <Pointer P>
void bulk_put(P to, impl::ValuesFrom<P> from) {
  bulk_put(to, from, world().phase());
}

/// Writes, and counts where the bytes arrive (store_sync, all_store_sync).
template <Pointer P>
void bulk_store(P to, const typename P::value_type* from, std::size_t bytes) {
  if constexpr (impl::check_writable<typename P::element_type>())
    impl::store_range(world(), to.place().template as<std::byte>(), from, bytes);
}
template <Pointer P>
void bulk_store(P to, impl::ValuesFrom<P> from) {
  bulk_store(to, from.data(), impl::bytes_of(from));
}

}  // namespace am::splitc
