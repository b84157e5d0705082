/* SPDX-License-Identifier: MIT */
/* Drive letters and what is behind them. */
#ifndef OPENPLA_DRIVES_H
#define OPENPLA_DRIVES_H

#include "engine/base/error.h"

#define DRIVES_MOST 26
struct drive {
    char name[3]; /* "C:" */
};
/* The drives with a disk of their own or a removable one in; natively one, "Z:", for the root, as under Wine. */
size_t drives_list(struct drive drives[DRIVES_MOST]);
/* Bytes. May wait long for a drive of another computer. */
HRESULT drive_space(const struct drive *drive, uint64_t *size, uint64_t *free);

#endif
