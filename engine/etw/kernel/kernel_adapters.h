/* SPDX-License-Identifier: MIT */
/* What the kernel tells of the addresses of network adapters. From its files, as openetw.dll is loaded into any
   program: Windows' functions for it would bring COM along. */
#ifndef OPENPLA_KERNEL_ADAPTERS_H
#define OPENPLA_KERNEL_ADAPTERS_H

#include "engine/base/text.h"

/* The adapter's addresses with ';' between them, "" for none; from memory_alloc. E_OUTOFMEMORY. */
HRESULT adapter_addresses(const char *name, char **out);
/* Those that the host asks for names, in the same form. */
HRESULT adapter_name_servers(char **out);

/* ---- the same of texts, for tests ---- */

/* Of /proc/net/fib_trie and /proc/net/route: an address of the host belongs to the adapter with the narrowest route to
   it. Adds to `out`. */
void adapter_ipv4(const char *trie, const char *routes, const char *name, struct text_buffer *out);
/* Of /proc/net/if_inet6. */
void adapter_ipv6(const char *table, const char *name, struct text_buffer *out);

#endif
