/* SPDX-License-Identifier: MIT */
/* Files and folders by UTF-8 path, in the syntax of the host OS; on Windows both '\\' and '/' separate. Also their
   protection, ownership, times and attributes, and the hook by which tests let an operation fail. Failures are
   HRESULT_FROM_WIN32 codes on every host OS, with an error text that names the path. */
#ifndef OPENPLA_FILE_H
#define OPENPLA_FILE_H

#include "engine/base/text.h"
#include "engine/base/wintypes.h"

/* ---- protection: who may access the files, folders and objects that OpenPLA creates ---- */

enum protection {
    PROTECTION_NONE, /* the default of the host OS */
#define PROTECTION(name, descriptor) PROTECTION_##name,
#include "engine/base/protection.def"
#undef PROTECTION
};
/* The descriptor as SDDL for the account of this process, from memory_alloc. NULL: out of memory, or
   PROTECTION_NONE. */
char *protection_sddl(enum protection what);

/* Creates the data folder or a folder below it, with every missing parent. The last folder gets that protection, its
   new parents PROTECTION_DATA. An existing folder must pass folder_check_own. A path outside the data folder is created
   as folder_create does. If a file with that name exists, the result is ERROR_ALREADY_EXISTS's HRESULT. */
HRESULT folder_create_protected(const char *path, enum protection what);
/* Checks that the folder and its parents up to the data folder belong to OpenPLA, as far as they exist: owned by this
   account, the system or the administrators. A link fails with ERROR_BAD_PATHNAME's HRESULT, because it could make any
   file appear as one of OpenPLA's. A folder owned by another account, which could change the contents, fails with
   ERROR_INVALID_OWNER's HRESULT. Each folder is checked once. */
HRESULT folder_check_own(const char *path);

/* The owner of a file or folder. */
struct ownership {
    bool is_folder, is_link, is_foreign;
    bool is_open; /* accounts other than its owner, the system, administrators and members have some kind of access */
    char owner[192]; /* the string of a SID, natively a number */
};
/* S_FALSE: it does not exist. Does not follow links. */
HRESULT file_ownership(const char *path, struct ownership *out);
/* Sets the protection of an existing file or folder. */
HRESULT file_protect(const char *path, enum protection what);

/* Used only by files of base: creates one folder in an existing one. */
HRESULT folder_create_one(const char *path, enum protection what);

/* ---- files and folders ---- */

struct file; /* an open file */

enum file_mode {
    FILE_READ,       /* the file must exist */
    FILE_CREATE_NEW, /* the file must not exist: HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) */
    FILE_REPLACE,    /* created or truncated */
    FILE_APPEND,     /* created if missing; writes go to the end, but file_write_at may overwrite existing bytes */
};
/* Others may read, rename and delete the open file (logs are read while they grow), but not write to it. */
HRESULT file_open(const char *path, enum file_mode mode, struct file **out);
/* The same; if the file is created, it gets that protection. */
HRESULT file_open_as(const char *path, enum file_mode mode, enum protection what, struct file **out);
/* The same, but waits up to timeout_ms while another process has the file open for writing; then it fails with
   ERROR_SHARING_VIOLATION's HRESULT. */
HRESULT file_open_wait(const char *path, enum file_mode mode, uint32_t timeout_ms, struct file **out);
/* Creates a file that only this process can open, in the host OS's folder for temporary files. It is deleted when it is
   closed. */
HRESULT file_open_scratch(struct file **out);
/* Either writes everything or fails; earlier contents stay intact. ERROR_DISK_FULL if only a part could be written. */
HRESULT file_write(struct file *f, const void *data, size_t size);
HRESULT file_write_at(struct file *f, uint64_t offset, const void *data, size_t size);
/* *got < size only at the end of the file. */
HRESULT file_read_at(struct file *f, uint64_t offset, void *data, size_t size, size_t *got);
HRESULT file_size(struct file *f, uint64_t *size);
HRESULT file_set_size(struct file *f, uint64_t size);
HRESULT file_flush(struct file *f); /* to the disk */
void file_close(struct file *f);    /* NULL is allowed */

/* Reads the whole file, NUL-terminated, from memory_alloc. ERROR_FILE_TOO_LARGE's HRESULT above `limit` bytes. */
HRESULT file_load(const char *path, size_t limit, char **out, size_t *size);
/* Writes a temporary file beside path, flushes it and renames it over path. A sharing violation is retried for up to 1
   s (replacing an open file fails under Wine). On failure path is unchanged, unless only the flush of the folder
   failed: then it is the new file. */
HRESULT file_store(const char *path, const void *data, size_t size);
/* The same in two steps, for a caller that holds a lock only during the second step, so that others do not wait for the
   disk. A clean-up after killed writers may delete the temporary file between the steps; then the second step fails
   with ERROR_FILE_NOT_FOUND's HRESULT. */
struct file_storing;
HRESULT file_store_begin(const char *path, const void *data, size_t size, struct file_storing **out);
HRESULT file_store_end(struct file_storing *s); /* frees it */
/* Discards the temporary file instead of the second step. Returns hr and keeps its text. NULL is allowed. */
HRESULT file_store_drop(struct file_storing *s, HRESULT hr);
/* Reports a failure of a temporary file as one of `path`, the file that users know. */
HRESULT file_failed_as(HRESULT hr, const char *temporary, const char *path);
HRESULT file_delete(const char *path);
/* Renames within one volume and replaces an existing file `to`. Waits for a sharing violation as file_store does. */
HRESULT file_rename(const char *from, const char *to);
/* The same for a file or a folder, but replaces nothing: HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) if the new name exists.
   A process that is killed during the call leaves the old name or both names. On a file system that supports neither
   such a rename nor links, it may leave an empty file of the new name beside the old one. */
HRESULT file_rename_new(const char *from, const char *to);
/* S_OK: the name exists; S_FALSE: it does not; a failure: unknown. */
HRESULT file_find(const char *path);
/* Also false if it is unknown: no access, or out of memory. */
bool file_exists(const char *path);   /* a file */
bool folder_exists(const char *path); /* a folder */
/* Whether both paths name the same file, as far as this follows from the names: different paths to its folder are
   recognized, a second hard link is not. False if it is unknown. */
bool file_is_same(const char *a, const char *b);
/* Creates the folder and every missing parent. If a file with that name exists, the result is ERROR_ALREADY_EXISTS. */
HRESULT folder_create(const char *path);
/* Creates a new folder that only this user can access, in the host OS's folder for temporary files. The caller deletes
   it. */
HRESULT folder_create_temporary(char **path);
HRESULT folder_delete(const char *path); /* must be empty */
/* The names (not paths) of the entries, sorted, without "." and "..": only files or only folders. A missing folder is
   PATH_NOT_FOUND. */
HRESULT folder_list(const char *path, bool folders, struct texts *names);
/* The names of both. */
HRESULT folder_list_all(const char *path, struct texts *names);
/* Properties of a file that are known without opening it. */
struct file_entry {
    const char *name;
    uint64_t stamp;  /* changes when the file's size or the time of its last write changes */
    int64_t written; /* the time of its last write, as clock_utc */
};
/* Calls `each` for the files in the folder, in no particular order, until a call fails, and returns that failure. A
   missing folder is PATH_NOT_FOUND. */
HRESULT folder_each_file(const char *path, HRESULT (*each)(void *user, const struct file_entry *file), void *user);
HRESULT folder_free_bytes(const char *path, uint64_t *bytes);

/* ---- below a base folder ----
   A path built from a user's names must not lead out of the folder that is their base (DECISIONS 36). `path` consists
   of the string of `base` followed by names. Links in `base` itself are followed, as the user chose it. The location is
   checked on the opened file. A ".." or a stream in the names is E_INVALIDARG; a link or a hard link that leads out, or
   a device, is HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME). Nothing outside the base is created, truncated or deleted. */
HRESULT folder_create_below(const char *base, const char *path);
HRESULT file_open_below(const char *base, const char *path, enum file_mode mode, struct file **out);
HRESULT file_delete_below(const char *base, const char *path);
/* As file_load, for a file that file_open_below opens. */
HRESULT file_load_below(const char *base, const char *path, size_t limit, char **out, size_t *size);

/* ---- owners and rights of files ---- */

enum file_grant {
    FILE_GRANT_ADD,    /* of a folder: to create files in it, which that account then owns */
    FILE_GRANT_CHANGE, /* of a file: to read, write and replace it */
};
/* Grants an account, given by its SID, this access in addition to the existing rights. Natively and under Wine it
   returns S_FALSE: nothing runs as another account there. */
HRESULT file_grant(const char *path, const char *sid, enum file_grant what);
/* As file_load, for a file whose owner is trusted: the system, administrators or this process's account; natively the
   superuser or this account. Any other owner is E_ACCESSDENIED, and the text names the file and its owner. The opened
   file is checked, so it is the one that is read. */
HRESULT file_load_trusted(const char *path, size_t limit, char **out, size_t *size);
/* E_ACCESSDENIED unless the owner of the open file is trusted in this sense. */
HRESULT file_check_owner(struct file *f);

/* An exclusive lock between processes, by a lock file; the system releases it when the holder exits. A process that
   only has the file open holds no lock, unless it opened the file exclusively. timeout_ms 0 means no waiting. After the
   timeout: HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION). The file stays; only the holder of the lock may file_delete it. */
struct file_lock;
HRESULT file_lock_take(const char *path, uint32_t timeout_ms, struct file_lock **out);
/* The same; if the lock file is created, it gets that protection instead of PROTECTION_LOCK. */
HRESULT file_lock_take_as(const char *path, enum protection what, uint32_t timeout_ms, struct file_lock **out);
void file_lock_release(struct file_lock *lock); /* NULL is allowed */

/* Joins two parts with exactly one separator; either part may be "". From memory_alloc; NULL: out of memory. */
char *path_join(const char *folder, const char *name);
/* The folder with exactly one separator at its end; "" stays "". From memory_alloc. */
char *path_with_separator(const char *folder);
char *path_folder(const char *path);          /* without the last component and its separator */
const char *path_name(const char *path);      /* last component, borrowed from path */
const char *path_extension(const char *path); /* ".csv" or "", borrowed from path */
/* Why names after a folder and a separator do not refer to something below that folder on some host OS: they contain
   "..", begin like a share, contain a drive or a stream, name a device, or are longer than PATH_NAME_MAX. Static text;
   NULL: they are valid. */
#define PATH_NAME_MAX 255 /* UTF-16 units of one name */
const char *path_names_fault(const char *names);
/* Why a path that a user chose cannot be a folder: a device, a stream, or a share without files. Links and ".." are
   allowed, as they are the user's choice. Static text; NULL: it can be a folder. */
const char *path_root_fault(const char *root);
/* The names in `path` after `base`, borrowed. NULL: it does not begin with `base`. */
const char *path_names_behind(const char *base, const char *path);
/* Whether Windows treats this name as a device, regardless of an extension. */
bool path_is_device_name(const char *name);
/* The canonical form of the name of a module, or of a function given as module!function: lower case, with the module's
   name without folder and ".dll". "C:\\x\\KERNEL32.dll!Sleep" is "kernel32!sleep". From memory_alloc. */
char *path_api_name(const char *name);

/* ---- times and attributes, for code that copies files; identity of folders ---- */

struct file_traits {
    uint64_t size;
    int64_t created, accessed, written; /* FILETIME, UTC; 0: unknown on this host OS */
    uint32_t attributes;                /* Windows' FILE_ATTRIBUTE_; natively read-only and hidden, by mode and name */
};
#define FILE_TRAIT_READ_ONLY 0x01u
#define FILE_TRAIT_HIDDEN    0x02u
#define FILE_TRAIT_SYSTEM    0x04u
#define FILE_TRAIT_ARCHIVE   0x20u

/* Opens a file to be read from beginning to end while others may write it. Never waits for the writer of a pipe: pipes
   and devices are ERROR_NOT_SUPPORTED's HRESULT, a folder is ERROR_DIRECTORY's. */
HRESULT file_open_source(const char *path, struct file **out);
HRESULT file_traits_of(struct file *f, struct file_traits *out);
/* Sets times and attributes, as far as the host OS stores them; the size is ignored. */
HRESULT file_set_traits(struct file *f, const struct file_traits *traits);

/* The identity of a folder, equal for all paths to it and for no other folder. Links are followed. */
struct folder_identity {
    uint64_t volume, number;
};
HRESULT folder_identify(const char *path, struct folder_identity *out);

/* ---- fault injection ----
   Tests observe each operation on files, and can let one fail as if the disk were full or the process were killed. Only
   tests call file_observe. */

enum file_operation {
    FILE_OPERATION_OPEN,          /* of an existing file, for reading */
    FILE_OPERATION_CREATE,        /* or for writing */
    FILE_OPERATION_READ,          /* some bytes of an open file */
    FILE_OPERATION_WRITE,         /* all bytes of one call */
    FILE_OPERATION_RESIZE,        /* by file_set_size */
    FILE_OPERATION_FLUSH,         /* of a file */
    FILE_OPERATION_RENAME,        /* within a volume, over an existing file */
    FILE_OPERATION_FLUSH_FOLDER,  /* natively, after a rename that must survive a crash */
    FILE_OPERATION_DELETE,        /* of a file */
    FILE_OPERATION_CREATE_FOLDER, /* of one folder */
    FILE_OPERATION_DELETE_FOLDER,
    FILE_OPERATION_LOCK, /* one attempt */
    FILE_OPERATIONS
};

/* Called before each operation of the thread that set it. A failure, with or without a text, becomes the result of the
   operation, which is then not started. S_FALSE: a write stops in the middle as on a full disk, and returns
   ERROR_DISK_FULL's HRESULT; any other operation continues. */
typedef HRESULT file_observer(void *user, enum file_operation operation, const char *path);
/* For this thread; NULL: no observer. */
void file_observe(file_observer *observer, void *user);

/* Used by the files of this layer: calls the observer. The text of a failure names the path. */
HRESULT file_operation(enum file_operation operation, const char *path);

#endif
