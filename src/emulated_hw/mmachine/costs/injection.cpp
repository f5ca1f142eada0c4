#include "emulated_hw/mmachine/costs/injection.hpp"

#include "emulated_hw/mmachine/costs/memory_injections.hpp"
#include "emulated_hw/mmachine/costs/register_injections.hpp"

namespace am::mmachine::costs {

std::unique_ptr<Injection> make_injection(Port port, AddressTranslation translation) {
  const bool buffered = port.atomicity == Atomicity::buffered;
  switch (port.mapping) {
    case Mapping::processor:
      break;
    case Mapping::network:
      if (buffered) return std::make_unique<NetworkBufferInjection>(translation);
      return std::make_unique<NetworkStreamInjection>(translation);
    case Mapping::memory:
      if (buffered) return std::make_unique<MemoryBufferInjection>(translation);
      return std::make_unique<MemoryStreamInjection>(translation);
  }
  return std::make_unique<ProcessorRegisterInjection>(translation);
}

}  // namespace am::mmachine::costs
