/* SPDX-License-Identifier: MIT */
/* The kernel's trace providers. */
#include "engine/pla/kernel_provider.h"

const struct kernel_provider kernel_providers[KERNEL_PROVIDERS] = {
    {{0x9E814AAD, 0x3204, 0x11D2, {0x9A, 0x82, 0x00, 0x60, 0x08, 0xA8, 0x69, 0x39}},
     "Windows Kernel Trace",
     "NT Kernel Logger"},
    {{0x54DEA73A, 0xED1F, 0x42A4, {0xAF, 0x71, 0x3E, 0x63, 0xD0, 0x56, 0xF1, 0x74}},
     "Circular Kernel Context Logger",
     "Circular Kernel Context Logger"},
};

const struct kernel_provider *kernel_provider_find(const GUID *guid)
{
    for (size_t i = 0; i < KERNEL_PROVIDERS; i++)
        if (guid_equal(guid, &kernel_providers[i].guid))
            return &kernel_providers[i];
    return NULL;
}
