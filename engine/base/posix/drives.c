/* SPDX-License-Identifier: MIT */
/* A POSIX system's one drive: the root. */
#include "engine/base/drives.h"

#include "engine/base/kernel_file.h"

size_t drives_list(struct drive drives[DRIVES_MOST])
{
    drives[0] = (struct drive){"Z:"};
    return 1;
}

HRESULT drive_space(const struct drive *drive, uint64_t *size, uint64_t *free)
{
    (void)drive;
    return kernel_folder_space("/", size, free);
}
