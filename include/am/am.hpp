// All of libam's user interface.
#pragma once

#include <am/version.h>
#include <am/collectives.hpp>
#include <am/counters.hpp>
#include <am/draft.hpp>
#include <am/error.hpp>
#include <am/events.hpp>
#include <am/global.hpp>
#include <am/guarded_ptr.hpp>
#include <am/multicast.hpp>
#include <am/node.hpp>
#include <am/payload.hpp>
#include <am/registers.hpp>
#include <am/settle.hpp>
#include <am/start.hpp>
#include <am/stream.hpp>
#include <am/types.hpp>
