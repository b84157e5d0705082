/* SPDX-License-Identifier: MIT */
/* Files and folders by UTF-8 path, in the syntax of the host OS; '\\' and '/' both separate on Windows. Also their
   protection, ownership, times and attributes, and the hook by which tests let an operation fail.
   Failures are HRESULT_FROM_WIN32 codes on every host OS, with an error text that names the path. */
#ifndef OPENPLA_FILE_H
#define OPENPLA_FILE_H

#include "engine/base/text.h"
#include "engine/base/wintypes.h"

/* ---- protection: who may do what with the files, folders and objects that we create ---- */

enum protection {
    PROTECTION_NONE, /* the default of the host OS */
#define PROTECTION(name, descriptor) PROTECTION_##name,
#include "engine/base/protection.def"
#undef PROTECTION
};
/* The descriptor as SDDL, for this process' account, from memory_alloc; NULL when out of memory, and for
   PROTECTION_NONE. */
char *protection_sddl(enum protection what);

/* Creates the data folder or one below it, with every missing parent; the last gets that protection, those above
   it PROTECTION_DATA. An existing folder must be ours, as folder_check_own says. A path elsewhere is created as
   by folder_create. ERROR_ALREADY_EXISTS's HRESULT for a file in the way. */
HRESULT folder_create_protected(const char *path, enum protection what);
/* Whether the folder and those above it, up to the data folder, are ours where they are there: a link is
   ERROR_BAD_PATHNAME's HRESULT, for it makes of our files whatever it leads to; a folder of another account, who may do
   with its contents what he likes, is ERROR_INVALID_OWNER's. Ours is what belongs to this account, the system or
   administrators. Asked of each folder once. */
HRESULT folder_check_own(const char *path);

/* The owner of a file or folder. */
struct ownership {
    bool is_folder, is_link, is_foreign;
    bool is_open;    /* others than its owner, the system, administrators and members may do something with it */
    char owner[192]; /* the text of a SID, natively a number */
};
/* S_FALSE: it does not exist. Follows no link. */
HRESULT file_ownership(const char *path, struct ownership *out);
/* Sets the protection of an existing file or folder. */
HRESULT file_protect(const char *path, enum protection what);

/* For the files of base alone: creates one folder in an existing one. */
HRESULT folder_create_one(const char *path, enum protection what);

/* ---- files and folders ---- */

struct file; /* an open file */

enum file_mode {
    FILE_READ,       /* must exist */
    FILE_CREATE_NEW, /* must not exist: HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) */
    FILE_REPLACE,    /* created or cut to nothing */
    FILE_APPEND,     /* created or kept; writes go to the end, file_write_at may rewrite what is there */
};
/* Others may read, rename and delete the open file (logs are read while they grow); others may not write. */
HRESULT file_open(const char *path, enum file_mode mode, struct file **out);
/* The same; a file that is created gets that protection. */
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
   1 s (a replace of an open file fails under Wine). On failure path is as it was, except that
   it is the new file if only the flush of the folder failed. */
HRESULT file_store(const char *path, const void *data, size_t size);
/* The same in two steps, for a caller that holds a lock only during the second, so that others need not wait for the
   disk. A cleanup after killed writers may delete the temporary file between the steps: then the second one fails with
   ERROR_FILE_NOT_FOUND's HRESULT. */
struct file_storing;
HRESULT file_store_begin(const char *path, const void *data, size_t size, struct file_storing **out);
HRESULT file_store_end(struct file_storing *s); /* frees it */
/* Discards the file in place of the second step. Returns hr, whose text is kept. NULL is allowed. */
HRESULT file_store_drop(struct file_storing *s, HRESULT hr);
/* Reports a failure with a temporary file as one of `path`, the file that users know. */
HRESULT file_failed_as(HRESULT hr, const char *temporary, const char *path);
HRESULT file_delete(const char *path);
/* Within one volume; a file that has the name `to` already is replaced. Waits for a sharing violation as file_store. */
HRESULT file_rename(const char *from, const char *to);
/* The same, of a file or a folder, and replaces nothing: HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) where something has the
   name by then. A process that ends in it leaves the old name, or both of them, or, on a file system that can neither
   rename so nor make links, an empty file of the new name beside the old one. */
HRESULT file_rename_new(const char *from, const char *to);
/* S_OK: the name exists; S_FALSE: it does not; a failure: unknown. */
HRESULT file_find(const char *path);
/* Also false if it is unknown: no access, or out of memory. */
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
struct file_entry {
    const char *name;
    uint64_t stamp;  /* changes when the file's size or the time of its latest write does */
    int64_t written; /* the time of its latest write, as clock_utc */
};
/* Calls `each` for the files of the folder, in no order, until one call fails; that failure is returned. Missing:
   PATH_NOT_FOUND. */
HRESULT folder_each_file(const char *path, HRESULT (*each)(void *user, const struct file_entry *file), void *user);
HRESULT folder_free_bytes(const char *path, uint64_t *bytes);

/* ---- below a base folder ----
   What a user's names make of a path must not lead out of the folder that is their base (DECISIONS 36). `path` is the
   text of `base` with names behind it; the links of `base` itself count as those of the user, who chose it. The
   location is checked on the opened file: a ".." or a stream in the names is E_INVALIDARG; a link or a hard link that
   leads out, or a device, is HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME). Nothing outside is created, truncated or deleted.
 */
HRESULT folder_create_below(const char *base, const char *path);
HRESULT file_open_below(const char *base, const char *path, enum file_mode mode, struct file **out);
HRESULT file_delete_below(const char *base, const char *path);
/* file_load of what file_open_below opens. */
HRESULT file_load_below(const char *base, const char *path, size_t limit, char **out, size_t *size);

/* ---- owners and rights of files ---- */

enum file_grant {
    FILE_GRANT_ADD,    /* of a folder: to make files in it, which are then that account's */
    FILE_GRANT_CHANGE, /* of a file: to read, write and replace it */
};
/* Lets an account, by its SID, do that, beside what others may. Natively, and under Wine, S_FALSE: nothing runs as
   another account there. */
HRESULT file_grant(const char *path, const char *sid, enum file_grant what);
/* file_load of a file whose owner may be trusted: the system, administrators, this process's own account; natively the
   superuser and this account. Another's is E_ACCESSDENIED, with the file and its owner in the text: asked of the opened
   file, so that it is the one that was read. */
HRESULT file_load_trusted(const char *path, size_t limit, char **out, size_t *size);
/* E_ACCESSDENIED unless the owner of the open file may be trusted so. */
HRESULT file_check_owner(struct file *f);

/* An exclusive lock between processes by a lock file; the system frees it when the holder exits. A process that only
   has the file open holds no lock, unless it shares the file with nobody. timeout_ms 0: do not wait. Timeout:
   HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION). The file stays; only the holder of the lock may file_delete it. */
struct file_lock;
HRESULT file_lock_take(const char *path, uint32_t timeout_ms, struct file_lock **out);
/* The same; a lock file that is created gets that protection in place of PROTECTION_LOCK. */
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
/* Why a path that a user chose cannot be a folder: a device, a stream, a share that has no files. Its links and its
   ".." are the user's choice. Static text; NULL: it can be one. */
const char *path_root_fault(const char *root);
/* The names of `path` behind `base`, borrowed; NULL: it does not begin with it. */
const char *path_names_behind(const char *base, const char *path);
/* Does Windows take this name for a device, whatever follows a dot in it? */
bool path_is_device_name(const char *name);

/* ---- times and attributes, for those who copy files; identity of folders ---- */

struct file_traits {
    uint64_t size;
    int64_t created, accessed, written; /* FILETIME, UTC; 0: this host does not tell */
    uint32_t attributes;                /* Windows' FILE_ATTRIBUTE_; natively read-only and hidden, by mode and name */
};
#define FILE_TRAIT_READ_ONLY 0x01u
#define FILE_TRAIT_HIDDEN    0x02u
#define FILE_TRAIT_SYSTEM    0x04u
#define FILE_TRAIT_ARCHIVE   0x20u

/* Opens a file to be read from its beginning to its end, which others may be writing. Never waits for what writes into
   a pipe: pipes and devices are ERROR_NOT_SUPPORTED's HRESULT, a folder is ERROR_DIRECTORY's. */
HRESULT file_open_source(const char *path, struct file **out);
HRESULT file_traits_of(struct file *f, struct file_traits *out);
/* Times and attributes, as far as the host keeps them; the size is ignored. */
HRESULT file_set_traits(struct file *f, const struct file_traits *traits);

/* Which folder it is, by whatever path: links are followed. Equal for the same one alone. */
struct folder_identity {
    uint64_t volume, number;
};
HRESULT folder_identify(const char *path, struct folder_identity *out);

/* ---- fault injection ----
   Tests observe each operation on files, and let one fail as a full disk or a killed process would. Only tests call
   file_observe. */

enum file_operation {
    FILE_OPERATION_OPEN,          /* of what is there, to be read */
    FILE_OPERATION_CREATE,        /* or to be written */
    FILE_OPERATION_READ,          /* some bytes of an open file */
    FILE_OPERATION_WRITE,         /* all bytes of one call */
    FILE_OPERATION_RESIZE,        /* by file_set_size */
    FILE_OPERATION_FLUSH,         /* of a file */
    FILE_OPERATION_RENAME,        /* within a volume, over what has the name */
    FILE_OPERATION_FLUSH_FOLDER,  /* natively, behind a rename that is to last */
    FILE_OPERATION_DELETE,        /* of a file */
    FILE_OPERATION_CREATE_FOLDER, /* of one folder */
    FILE_OPERATION_DELETE_FOLDER,
    FILE_OPERATION_LOCK, /* one try */
    FILE_OPERATIONS
};

/* Asked before each operation of the thread that set it. A failure, with or without a text, is the operation's, which
   is then not begun. S_FALSE: a write stops in the middle, as a disk is full, and ends with ERROR_DISK_FULL's HRESULT;
   any other operation goes on. */
typedef HRESULT file_observer(void *user, enum file_operation operation, const char *path);
/* For this thread; NULL: none. */
void file_observe(file_observer *observer, void *user);

/* For the layer's own files: asks the observer. A failure has a text that names the path. */
HRESULT file_operation(enum file_operation operation, const char *path);

#endif
