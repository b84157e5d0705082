/* SPDX-License-Identifier: MIT */
/* The drives of Windows. */
#include "engine/base/drives.h"

#include "engine/base/win32/win32_call.h"

#include <windows.h>

static void root_of(char letter, WCHAR root[4])
{
    root[0] = (WCHAR)letter;
    root[1] = ':';
    root[2] = '\\';
    root[3] = 0;
}

size_t drives_list(struct drive drives[DRIVES_MOST])
{
    DWORD letters = GetLogicalDrives();
    size_t count = 0;
    for (unsigned i = 0; i < DRIVES_MOST; i++) {
        WCHAR root[4];
        UINT type;
        if (!(letters >> i & 1))
            continue;
        root_of((char)('A' + i), root);
        type = GetDriveTypeW(root);
        if (type == DRIVE_FIXED || type == DRIVE_REMOVABLE)
            drives[count++] = (struct drive){{(char)('A' + i), ':', 0}};
    }
    return count;
}

HRESULT drive_space(const struct drive *drive, uint64_t *size, uint64_t *free)
{
    ULARGE_INTEGER available, total;
    WCHAR root[4];
    root_of(drive->name[0], root);
    if (!GetDiskFreeSpaceExW(root, &available, &total, NULL))
        return win32_failed(GetLastError(), drive->name);
    *size = total.QuadPart;
    *free = available.QuadPart;
    return S_OK;
}
