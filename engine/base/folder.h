/* SPDX-License-Identifier: MIT */
/* Folders that are kept open while their contents are deleted, and folders that are watched for changes. This header
   also declares drives. */
#ifndef OPENPLA_FOLDER_H
#define OPENPLA_FOLDER_H

#include "engine/base/error.h"
#include "engine/base/file.h"

/* ---- open folders ----
   Deletions use open folders. An operation on a name follows no links. It acts in the folder that was opened, even if
   the folder's path now leads elsewhere. Failures are HRESULT_FROM_WIN32 codes, with an error text that names the
   path. */

struct held_folder;

/* Opens the folder `names` ("a" or "a\b") below `base`; "" is base itself. Links in base are followed, as by
   file_open_below. A link below base fails with HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), and names that lead out of base
   fail with E_INVALIDARG. On Windows nobody can rename or delete the folder until it is closed. */
HRESULT held_folder_open(const char *base, const char *names, struct held_folder **out);
/* Opens a folder in `f` by a single name. `f` must stay open as long as the new folder. */
HRESULT held_folder_enter(struct held_folder *f, const char *name, struct held_folder **out);
const char *held_folder_path(const struct held_folder *f); /* the path by which it was opened */
void held_folder_close(struct held_folder *f);             /* NULL is allowed */

enum held_kind {
    HELD_FILE,
    HELD_FOLDER,
    HELD_OTHER, /* a link, a junction, a device, a pipe, or a mount point */
};
struct held_entry {
    const char *name;
    enum held_kind kind;
    uint64_t size;   /* bytes; only for a file */
    int64_t written; /* FILETIME, UTC */
};
/* Calls `each` for all entries in no particular order until a call fails, and returns that failure. Entries that are
   deleted during the call may be skipped. `each` must not change the folder. */
HRESULT held_folder_each(struct held_folder *f, HRESULT (*each)(void *user, const struct held_entry *entry),
                         void *user);
/* Opens a file in the folder; `mode` must be FILE_READ or FILE_CREATE_NEW. A link or a device fails with
   ERROR_BAD_PATHNAME. */
HRESULT held_folder_file(struct held_folder *f, const char *name, enum file_mode mode, struct file **out);
/* Renames within the folder as file_rename_new does: nothing is replaced. */
HRESULT held_folder_rename_new(struct held_folder *f, const char *from, const char *to);
/* Deletes a file in the folder. If a process has it open for writing, the result is ERROR_SHARING_VIOLATION. A link
   fails with ERROR_BAD_PATHNAME and is not deleted. */
HRESULT held_folder_delete(struct held_folder *f, const char *name);
/* Deletes a folder in `f`. The folder must be empty and must not be a link. */
HRESULT held_folder_delete_folder(struct held_folder *f, const char *name);

/* ---- watched folders ----
   A watch detects that something in a folder has changed: files were created, replaced, written, renamed or deleted. */

struct folder_watch;
/* Begins to watch the folder itself, not its subfolders. If the folder does not exist, the result is
   HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) or HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND). Changes are detected from this
   call on, even before the first wait. */
HRESULT folder_watch_open(const char *path, struct folder_watch **out);
/* Watches one more folder; call it before the first wait. Fails with E_INVALIDARG if FOLDERS_WATCHED folders are
   already watched. */
#define FOLDERS_WATCHED 8
HRESULT folder_watch_add(struct folder_watch *w, const char *path);
/* Called by one thread at a time. S_OK: something has changed, or folder_watch_wake was called; S_FALSE: nothing
   happened for timeout_ms. A failure: a folder is no longer watched, for example because it was deleted. */
HRESULT folder_watch_wait(struct folder_watch *w, uint32_t timeout_ms);
/* Ends the current or the next wait; may be called from any thread. */
void folder_watch_wake(struct folder_watch *w);
void folder_watch_close(struct folder_watch *w); /* NULL is allowed */

/* ---- drives ---- */

#define DRIVES_MOST 26
struct drive {
    char name[3]; /* "C:" */
};
/* Lists the drives of fixed disks and of inserted removable media, and returns their number. In the native build the
   only drive is "Z:", which is the root, as under Wine. */
size_t drives_list(struct drive drives[DRIVES_MOST]);
/* Whether the drive letter refers to another computer's disk; always false in the native build. */
bool drive_is_remote(char letter);
/* Returns the drive's size and free space in bytes. The call can take a long time for another computer's disk. */
HRESULT drive_space(const struct drive *drive, uint64_t *size, uint64_t *free);

#endif
