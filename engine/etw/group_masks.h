/* SPDX-License-Identifier: MIT */
/* PERFINFO_GROUPMASK: eight masks of 29 bits that say which events the kernel writes. The first is EnableFlags, but for
   eight of these, whose place is in others. */
#ifndef OPENPLA_GROUP_MASKS_H
#define OPENPLA_GROUP_MASKS_H

#include <stdbool.h>
#include <stdint.h>

enum { GROUP_MASKS = 8 };
/* Adds a PERF_ constant, as MS-PLA note 2 lists them: its top three bits pick the mask. */
void group_masks_add(uint32_t masks[GROUP_MASKS], uint32_t constant);
/* The EnableFlags that ask for the same, as far as such can. */
uint32_t group_masks_flags(const uint32_t masks[GROUP_MASKS]);
/* Moves each flag of the first mask to its place. */
void group_masks_place(uint32_t masks[GROUP_MASKS]);
/* Whether EnableFlags cannot say all of it. */
bool group_masks_beyond_flags(const uint32_t masks[GROUP_MASKS]);

#endif
