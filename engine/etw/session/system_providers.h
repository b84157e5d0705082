/* SPDX-License-Identifier: MIT */
/* The system providers of newer Windows: the kernel's events by EnableTraceEx2, each kind by a GUID and keywords. */
#ifndef OPENPLA_SYSTEM_PROVIDERS_H
#define OPENPLA_SYSTEM_PROVIDERS_H

#include "engine/etw/directory.h"

bool system_provider_is_one(const GUID *provider);
/* The EnableFlags (enum kernel_flag) that these keywords stand for; no keyword at all: those of all. */
uint32_t system_provider_flags(const GUID *provider, uint64_t keywords);
/* Those of all that the session has enabled. */
HRESULT system_providers_enabled(struct directory *d, const struct directory_session *s, uint32_t *flags);

#endif
