/* SPDX-License-Identifier: MIT */
/* Folders: held open for deletions, watched for changes; and the drives. */
#ifndef OPENPLA_FOLDER_H
#define OPENPLA_FOLDER_H

#include "engine/base/error.h"
#include "engine/base/file.h"

/* ---- held folders ----
   For deletions: an operation by name works in the folder that was opened, whatever has its path by now, and follows no
   link. Failures are HRESULT_FROM_WIN32 codes, with an error text that names the path. */

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
/* Calls `each` for all in it, in no order, until one call fails; that failure is returned. Entries that are
   deleted during the call may be skipped. `each` must not change the folder. */
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

/* ---- watched folders ----
   Notices that something in a folder has changed: files made, replaced, written, renamed or deleted. */

struct folder_watch;
/* Watches the folder itself, not those below it. HRESULT of ERROR_PATH_NOT_FOUND or ERROR_FILE_NOT_FOUND if it
   does not exist. Changes from now on are noticed, also those before the first wait. */
HRESULT folder_watch_open(const char *path, struct folder_watch **out);
/* One more folder, before the first wait; FOLDERS_WATCHED at the most: E_INVALIDARG. */
#define FOLDERS_WATCHED 8
HRESULT folder_watch_add(struct folder_watch *w, const char *path);
/* One thread at a time. S_OK: something has changed, or folder_watch_wake was called; S_FALSE: nothing for timeout_ms.
   A failure: the folder is not watched any more (it was deleted). */
HRESULT folder_watch_wait(struct folder_watch *w, uint32_t timeout_ms);
/* From any thread: ends the present or the next wait. */
void folder_watch_wake(struct folder_watch *w);
void folder_watch_close(struct folder_watch *w); /* NULL is allowed */

/* ---- drives ---- */

#define DRIVES_MOST 26
struct drive {
    char name[3]; /* "C:" */
};
/* The drives of fixed disks and of inserted removable ones; natively one, "Z:", for the root, as under Wine. */
size_t drives_list(struct drive drives[DRIVES_MOST]);
/* Bytes. May wait long for a drive of another computer. */
HRESULT drive_space(const struct drive *drive, uint64_t *size, uint64_t *free);

#endif
