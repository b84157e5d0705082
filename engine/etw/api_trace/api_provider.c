/* SPDX-License-Identifier: MIT */
/* The GUID of the event provider; api_trace.man describes its events. */
#include "engine/etw/api_trace.h"

const GUID api_trace_provider = {0x4d1c64a7, 0x6f3b, 0x4f0e, {0x9a, 0x3c, 0x5f, 0x5f, 0x0c, 0x6b, 0x8e, 0x21}};
