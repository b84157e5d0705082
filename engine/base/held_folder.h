/* SPDX-License-Identifier: MIT */
/* A folder that is open, for who deletes: what is done by name in it is done in this folder, whatever has its path by
   now, and no link is followed. Failures are HRESULT_FROM_WIN32 codes, with a text that names the path. */
#ifndef OPENPLA_HELD_FOLDER_H
#define OPENPLA_HELD_FOLDER_H

#include "engine/base/file.h"

struct held_folder;

/* The folder `names` ("a" or "a\b") below `base`, whose own links count as in file_open_below; "" is base itself. A
   link on the way behind base is HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), as names that lead out are E_INVALIDARG. On
   Windows nobody can rename or delete it until it is closed. */
HRESULT held_folder_open(const char *base, const char *names, struct held_folder **out);
/* A folder in it, by one name; `f` must stay open as long. */
HRESULT held_folder_enter(struct held_folder *f, const char *name, struct held_folder **out);
const char *held_folder_path(const struct held_folder *f); /* that it was opened by */
void held_folder_close(struct held_folder *f);             /* NULL is allowed */

enum held_kind {
    HELD_FILE,
    HELD_FOLDER,
    HELD_OTHER, /* a link, a junction, a device, a pipe, a folder where another disk is mounted */
};
struct held_entry {
    const char *name;
    enum held_kind kind;
    uint64_t size;   /* bytes, of a file */
    int64_t written; /* FILETIME, UTC */
};
/* Calls `each` for all in it, in no order, until one call fails; that failure is returned. What goes meanwhile may be
   left out. `each` must not change the folder. */
HRESULT held_folder_each(struct held_folder *f, HRESULT (*each)(void *user, const struct held_entry *entry),
                         void *user);
/* A file in it; FILE_READ and FILE_CREATE_NEW alone. A link or a device is ERROR_BAD_PATHNAME. */
HRESULT held_folder_file(struct held_folder *f, const char *name, enum file_mode mode, struct file **out);
/* Within it, as file_rename_new: nothing is replaced. */
HRESULT held_folder_rename_new(struct held_folder *f, const char *from, const char *to);
/* A file in it that nobody writes: else ERROR_SHARING_VIOLATION. A link is ERROR_BAD_PATHNAME, and stays. */
HRESULT held_folder_delete(struct held_folder *f, const char *name);
/* A folder in it, which must be empty and no link. */
HRESULT held_folder_delete_folder(struct held_folder *f, const char *name);

#endif
