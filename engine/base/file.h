/* SPDX-License-Identifier: MIT */
/* Files and folders by UTF-8 path, in the host's own syntax; '\\' and '/' both separate on Windows.
   Failures are HRESULT_FROM_WIN32 codes on every host, with an error text that names the path. */
#ifndef OPENPLA_FILE_H
#define OPENPLA_FILE_H

#include "engine/base/protection.h"

struct file; /* an open file */

enum file_mode {
    FILE_READ,       /* must exist */
    FILE_CREATE_NEW, /* must not exist: HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) */
    FILE_REPLACE,    /* created or cut to nothing */
    FILE_APPEND,     /* created or kept; writes go to the end, file_write_at may rewrite what is there */
};
/* Others may read, rename and delete the file meanwhile (logs are read while they grow); others may not write. */
HRESULT file_open(const char *path, enum file_mode mode, struct file **out);
/* The same; one that is made gets that protection. */
HRESULT file_open_as(const char *path, enum file_mode mode, enum protection what, struct file **out);
/* The same, and waits up to timeout_ms for another who has it open for writing; then ERROR_SHARING_VIOLATION's. */
HRESULT file_open_wait(const char *path, enum file_mode mode, uint32_t timeout_ms, struct file **out);
/* A new one that this process alone has, in the host's folder for temporary files; it is gone when it is closed. */
HRESULT file_open_scratch(struct file **out);
/* Writes all of it or fails; what came before stays whole. ERROR_DISK_FULL when only part could be written. */
HRESULT file_write(struct file *f, const void *data, size_t size);
HRESULT file_write_at(struct file *f, uint64_t offset, const void *data, size_t size);
/* *got < size only at the end of the file. */
HRESULT file_read_at(struct file *f, uint64_t offset, void *data, size_t size, size_t *got);
HRESULT file_size(struct file *f, uint64_t *size);
HRESULT file_set_size(struct file *f, uint64_t size);
HRESULT file_flush(struct file *f); /* to the disk */
void file_close(struct file *f);    /* NULL is allowed */

/* The whole file, NUL-terminated, from memory_alloc; fails with ERROR_FILE_TOO_LARGE's HRESULT above `limit` bytes. */
HRESULT file_load(const char *path, size_t limit, char **out, size_t *size);
/* Writes a temporary file beside path, flushes it, renames it over path. A sharing violation is retried for up to
   1 s (a replace of an open file fails under Wine). On failure path is as it was; only where all is done and the
   folder's flush fails, which is told too, it is the new one. */
HRESULT file_store(const char *path, const void *data, size_t size);
/* The same in two steps, for who holds a lock over the second alone: others need not wait for the disk. Who cleans up
   behind killed writers may take it away meanwhile: then the second step fails with ERROR_FILE_NOT_FOUND's HRESULT. */
struct file_storing;
HRESULT file_store_begin(const char *path, const void *data, size_t size, struct file_storing **out);
HRESULT file_store_end(struct file_storing *s); /* frees it */
/* Instead of the second step, for this reason, whose text survives; gives it back. NULL is allowed. */
HRESULT file_store_drop(struct file_storing *s, HRESULT hr);
/* A failure with a temporary file, told of the file that it stands for, which is the one that users know. */
HRESULT file_failed_as(HRESULT hr, const char *temporary, const char *path);
HRESULT file_delete(const char *path);
/* Within one volume; a file that has the name `to` already is replaced. Waits for a sharing violation as file_store. */
HRESULT file_rename(const char *from, const char *to);
/* The same, of a file or a folder, and replaces nothing: HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) where something has the
   name by then. A process that ends in it leaves the old name, or both of them, or, on a file system that can neither
   rename so nor make links, an empty file of the new name beside the old one. */
HRESULT file_rename_new(const char *from, const char *to);
/* S_OK: something has the name; S_FALSE: nothing has; a failure: it cannot be known. */
HRESULT file_find(const char *path);
/* Also false when it cannot be known: no access, or memory is out. */
bool file_exists(const char *path);   /* a file */
bool folder_exists(const char *path); /* a folder */
/* Whether both are the same file, as far as their names tell: also by another way to its folder, but not by a second
   link to it. false when it cannot be known. */
bool file_is_same(const char *a, const char *b);
/* Creates the folder and every missing parent. A file in the way is ERROR_ALREADY_EXISTS. */
HRESULT folder_create(const char *path);
HRESULT folder_delete(const char *path); /* must be empty */
/* Names (not paths) of the entries, sorted, without "." and ".."; files only or folders only. Missing: PATH_NOT_FOUND.
 */
HRESULT folder_list(const char *path, bool folders, struct texts *names);
/* What is known of a file without opening it. */
struct seen_file {
    const char *name;
    uint64_t stamp;  /* changes when the file's size or the time of its latest write does */
    int64_t written; /* the time of its latest write, as clock_utc */
};
/* Calls `each` for the files of the folder, in no order, until one call fails; that failure is returned. Missing:
   PATH_NOT_FOUND. */
HRESULT folder_each_file(const char *path, HRESULT (*each)(void *user, const struct seen_file *file), void *user);
HRESULT folder_free_bytes(const char *path, uint64_t *bytes);

/* ---- below a base folder ----
   What a user's names make of a path must not lead out of the folder that is their base (DECISIONS 36). `path` is the
   text of `base` with names behind it; the links of `base` itself count as those of the user, who chose it. What is
   opened is asked where it lies: a ".." or a stream in the names is E_INVALIDARG; a link or a second name that leads
   out, or a device, is HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME). Outside nothing is made, cut or deleted. */
HRESULT folder_create_below(const char *base, const char *path);
HRESULT file_open_below(const char *base, const char *path, enum file_mode mode, struct file **out);
HRESULT file_delete_below(const char *base, const char *path);
/* file_load of what file_open_below opens. */
HRESULT file_load_below(const char *base, const char *path, size_t limit, char **out, size_t *size);

/* ---- whose files are ---- */

enum file_let {
    FILE_LET_ADD,    /* of a folder: to make files in it, which are then that account's */
    FILE_LET_CHANGE, /* of a file: to read, write and replace it */
};
/* Lets an account, by its SID, do that, beside what others may. Natively, and under Wine, S_FALSE: nothing runs as
   another account there. */
HRESULT file_let(const char *path, const char *sid, enum file_let what);
/* file_load of a file whose owner may be trusted: the system, administrators, this process's own account; natively the
   superuser and this account. Another's is E_ACCESSDENIED, with the file and its owner in the text: asked of the opened
   file, so that it is the one that was read. */
HRESULT file_load_trusted(const char *path, size_t limit, char **out, size_t *size);

/* An exclusive lock between processes on a lock file of its own; freed by the system when the holder dies.
   Who only has the file open holds nothing, unless he shares it with nobody. timeout_ms 0 = do not wait. Not got:
   HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION). The file stays behind; only who holds the lock may file_delete it. */
struct file_lock;
HRESULT file_lock_take(const char *path, uint32_t timeout_ms, struct file_lock **out);
/* The same; a lock file that is made gets that protection in place of PROTECTION_LOCK. */
HRESULT file_lock_take_as(const char *path, enum protection what, uint32_t timeout_ms, struct file_lock **out);
void file_lock_release(struct file_lock *lock); /* NULL is allowed */

/* Joins with exactly one separator; either part may be "". From memory_alloc, NULL when out of memory. */
char *path_join(const char *folder, const char *name);
/* The folder with exactly one separator at its end; "" stays so. From memory_alloc. */
char *path_with_separator(const char *folder);
char *path_folder(const char *path);          /* without the last component and its separator */
const char *path_name(const char *path);      /* last component, borrowed from path */
const char *path_extension(const char *path); /* ".csv" or "", borrowed from path */
/* Why names, put behind a folder and a separator, name nothing below it on some host: they go up, begin like a share,
   have a drive or a stream, are a device's, or are longer than PATH_NAME_MAX. Static text; NULL: nothing is wrong. */
#define PATH_NAME_MAX 255 /* UTF-16 units of one name */
const char *path_names_fault(const char *names);
/* Why a folder that a user chose is none, wherever it is: a device, a stream, what is no share of files. Its own links
   and its ".." are his. Static text; NULL: nothing is wrong. */
const char *path_root_fault(const char *root);
/* The names of `path` behind `base`, borrowed; NULL: it does not begin with it. */
const char *path_names_behind(const char *base, const char *path);
/* Does Windows take this name for a device, whatever follows a dot in it? */
bool path_is_device_name(const char *name);

#endif
