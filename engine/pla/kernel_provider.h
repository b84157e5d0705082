/* SPDX-License-Identifier: MIT */
/* The kernel's trace providers, which no manifest registers (behaviour 10). */
#ifndef OPENPLA_KERNEL_PROVIDER_H
#define OPENPLA_KERNEL_PROVIDER_H

#include "engine/base/text.h"

struct kernel_provider {
    GUID guid;
    const char *name;
    const char *session; /* the one that can have it */
};
enum { KERNEL_PROVIDERS = 2 };
extern const struct kernel_provider kernel_providers[KERNEL_PROVIDERS];
/* NULL: it is none of the kernel's. */
const struct kernel_provider *kernel_provider_find(const GUID *guid);

#endif
