// What the fake fabric says of its providers: lists as fi_getinfo gives them, that the caller owns.
#include <rdma/fi_errno.h>

#include <atomic>
#include <cstring>

#include "support/fake_fabric.hpp"

namespace test::fake {

namespace {

std::atomic<std::size_t> infos{0};

template <class T>
T* zeroed() {
  return static_cast<T*>(std::calloc(1, sizeof(T)));
}
template <class T>
T* copied(const T* from) {
  T* const to = zeroed<T>();
  if (from != nullptr) *to = *from;
  return to;
}
char* copied_text(const char* text) { return text == nullptr ? nullptr : strdup(text); }

fi_info* empty_info() {
  fi_info* const info = zeroed<fi_info>();
  info->tx_attr = zeroed<fi_tx_attr>();
  info->rx_attr = zeroed<fi_rx_attr>();
  info->ep_attr = zeroed<fi_ep_attr>();
  info->domain_attr = zeroed<fi_domain_attr>();
  info->fabric_attr = zeroed<fi_fabric_attr>();
  ++infos;
  return info;
}

/// Of mr_mode, where messages alone are asked for: as libfabric does.
int not_wanted(const fi_info* hints) {
  return hints != nullptr && (hints->caps & FI_RMA) == 0 ? FI_MR_RAW | FI_MR_RMA_EVENT : 0;
}

bool fits(const FakeProvider& provider, const fi_info& hints) {
  const bool is_named =
      hints.fabric_attr->prov_name == nullptr || provider.name == hints.fabric_attr->prov_name;
  const std::uint64_t completion = provider.delivers ? FI_DELIVERY_COMPLETE : 0;
  return is_named && (hints.caps & ~provider.caps) == 0 && (hints.tx_attr->op_flags & ~completion) == 0 &&
         (hints.tx_attr->msg_order & ~provider.order) == 0 &&
         (hints.rx_attr->msg_order & ~provider.order) == 0 && (provider.mode & ~hints.mode) == 0 &&
         (provider.mr_mode & ~hints.domain_attr->mr_mode & ~not_wanted(&hints)) == 0 &&
         provider.type == hints.ep_attr->type &&
         (provider.loses_nothing || hints.domain_attr->resource_mgmt != FI_RM_ENABLED);
}

/// What was asked for, and no more; modes that its user has to serve.
fi_info* offer(const FakeProvider& provider, const fi_info* hints, std::size_t place) {
  fi_info* const info = empty_info();
  info->caps = hints != nullptr ? hints->caps : provider.caps;
  info->mode = provider.mode;
  info->addr_format = provider.addr_format;
  if (!provider.src_addr.empty()) {
    info->src_addr = std::malloc(provider.src_addr.size());
    std::memcpy(info->src_addr, provider.src_addr.data(), provider.src_addr.size());
    info->src_addrlen = provider.src_addr.size();
  }
  info->ep_attr->type = provider.type;
  info->ep_attr->max_msg_size = provider.max_msg_size;
  info->ep_attr->protocol = static_cast<std::uint32_t>(place);
  info->tx_attr->caps = info->caps;
  info->tx_attr->op_flags = hints != nullptr ? hints->tx_attr->op_flags : 0;
  info->tx_attr->inject_size = provider.inject_size;
  info->tx_attr->size = provider.tx_size;
  info->tx_attr->iov_limit = 1;
  info->tx_attr->rma_iov_limit = 1;
  info->tx_attr->msg_order = provider.order;
  info->rx_attr->caps = info->caps;
  info->rx_attr->size = provider.rx_size;
  info->rx_attr->iov_limit = 1;
  info->rx_attr->msg_order = provider.order;
  info->domain_attr->name = strdup(provider.domain.c_str());
  info->domain_attr->threading = FI_THREAD_DOMAIN;
  info->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  info->domain_attr->data_progress = provider.manual_progress ? FI_PROGRESS_MANUAL : FI_PROGRESS_AUTO;
  info->domain_attr->resource_mgmt = provider.loses_nothing ? FI_RM_ENABLED : FI_RM_DISABLED;
  info->domain_attr->av_type = FI_AV_TABLE;
  info->domain_attr->mr_mode = provider.mr_mode & ~not_wanted(hints);
  info->domain_attr->mr_key_size = provider.mr_key_size;
  info->fabric_attr->name = strdup("fake");
  info->fabric_attr->prov_name = strdup(provider.name.c_str());
  return info;
}

}  // namespace

fi_info* matching(const std::vector<FakeProvider>& providers, const fi_info* hints) {
  fi_info* first = nullptr;
  fi_info** next = &first;
  for (std::size_t i = 0; i < providers.size(); ++i) {
    if (hints != nullptr && !fits(providers[i], *hints)) continue;
    *next = offer(providers[i], hints, i);
    next = &(*next)->next;
  }
  return first;
}

fi_info* copy_info(const fi_info* info) {
  if (info == nullptr) return empty_info();
  fi_info* const copy = copied(info);
  ++infos;
  copy->next = nullptr;
  copy->tx_attr = copied(info->tx_attr);
  copy->rx_attr = copied(info->rx_attr);
  copy->ep_attr = copied(info->ep_attr);
  copy->domain_attr = copied(info->domain_attr);
  copy->domain_attr->name = copied_text(info->domain_attr->name);
  copy->fabric_attr = copied(info->fabric_attr);
  copy->fabric_attr->name = copied_text(info->fabric_attr->name);
  copy->fabric_attr->prov_name = copied_text(info->fabric_attr->prov_name);
  if (info->src_addr != nullptr) {
    copy->src_addr = std::malloc(info->src_addrlen);
    std::memcpy(copy->src_addr, info->src_addr, info->src_addrlen);
  }
  return copy;
}

void free_info(fi_info* info) {
  while (info != nullptr) {
    fi_info* const next = info->next;
    std::free(info->domain_attr->name);
    std::free(info->fabric_attr->name);
    std::free(info->fabric_attr->prov_name);
    for (void* const part : {static_cast<void*>(info->tx_attr), static_cast<void*>(info->rx_attr),
                             static_cast<void*>(info->ep_attr), static_cast<void*>(info->domain_attr),
                             static_cast<void*>(info->fabric_attr), info->src_addr, static_cast<void*>(info)})
      std::free(part);
    --infos;
    info = next;
  }
}

std::size_t open_infos() noexcept { return infos; }

std::size_t provider_of(const fi_info& info) noexcept { return info.ep_attr->protocol; }

}  // namespace test::fake
