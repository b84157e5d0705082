/* SPDX-License-Identifier: MIT */
#include "engine/etw/group_masks.h"

#include <stddef.h>
#include <string.h>

static const struct {
    uint32_t flag, mask, bit;
} moved[] = {
    {0x00000010, 1, 0x0004}, /* CSWITCH */
    {0x00000020, 1, 0x0080}, /* DPC */
    {0x00000040, 1, 0x4000}, /* INTERRUPT */
    {0x00000080, 2, 0x0040}, /* SYSTEMCALL */
    {0x00000800, 1, 0x0200}, /* DISPATCHER */
    {0x00004000, 1, 0x8000}, /* VIRTUAL_ALLOC */
    {0x00800000, 1, 0x0010}, /* DRIVER */
    {0x01000000, 1, 0x0002}, /* PROFILE */
};
enum { MOVED = sizeof moved / sizeof *moved };

void group_masks_add(uint32_t masks[GROUP_MASKS], uint32_t constant)
{
    enum { MASK_SHIFT = 29 };
    masks[constant >> MASK_SHIFT] |= constant & ((UINT32_C(1) << MASK_SHIFT) - 1);
}

uint32_t group_masks_flags(const uint32_t masks[GROUP_MASKS])
{
    uint32_t flags = masks[0];
    for (size_t i = 0; i < MOVED; i++)
        flags |= (masks[moved[i].mask] & moved[i].bit) != 0 ? moved[i].flag : 0;
    return flags;
}

void group_masks_place(uint32_t masks[GROUP_MASKS])
{
    for (size_t i = 0; i < MOVED; i++)
        if ((masks[0] & moved[i].flag) != 0) {
            masks[0] &= ~moved[i].flag;
            masks[moved[i].mask] |= moved[i].bit;
        }
}

bool group_masks_beyond_flags(const uint32_t masks[GROUP_MASKS])
{
    uint32_t rest[GROUP_MASKS], any = 0;
    memcpy(rest, masks, sizeof rest);
    for (size_t i = 0; i < MOVED; i++)
        rest[moved[i].mask] &= ~moved[i].bit;
    for (size_t i = 1; i < GROUP_MASKS; i++)
        any |= rest[i];
    return any != 0;
}
