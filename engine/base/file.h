/* SPDX-License-Identifier: MIT */
/* Files and folders, named by UTF-8 paths in the host OS's syntax. On Windows, both '\\' and '/' are separators. This
   header also declares their protection, ownership, times and attributes, and the hook through which tests make an
   operation fail. Failures are HRESULT_FROM_WIN32 codes on every host OS, with an error text that names the path. */
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
/* Returns the descriptor as SDDL, with this process's account as the creator, from memory_alloc. Returns NULL for
   PROTECTION_NONE, and also if memory runs out. */
char *protection_sddl(enum protection what);

/* Creates the data folder or a folder below it, with every missing parent. The last folder gets the protection `what`,
   and new parents get PROTECTION_DATA. An existing folder must pass folder_check_own. For a path outside the data
   folder, this function works like folder_create. If a file with that name exists, the result is
   HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS). */
HRESULT folder_create_protected(const char *path, enum protection what);
/* Checks that the folder and its parents up to the data folder belong to OpenPLA: each of them that exists must be
   owned by this account, the system or the administrators. A link fails with HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME),
   because it could make any file appear as one of OpenPLA's. A folder of another account fails with
   HRESULT_FROM_WIN32(ERROR_INVALID_OWNER), because that account could change the contents. A folder that has passed is
   not checked again. */
HRESULT folder_check_own(const char *path);

/* The owner of a file or folder. */
struct ownership {
    bool is_folder, is_link, is_foreign;
    bool is_open;    /* groups that include every user of this computer have access */
    char owner[192]; /* the string of a SID; in the native build a number */
};
/* Reads the owner without following links. S_FALSE: the file or folder does not exist. */
HRESULT file_ownership(const char *path, struct ownership *out);
/* Sets the protection of an existing file or folder. */
HRESULT file_protect(const char *path, enum protection what);

/* Only for engine/base: creates one folder, whose parent must exist. */
HRESULT folder_create_one(const char *path, enum protection what);

/* ---- files and folders ---- */

struct file; /* an open file */

enum file_mode {
    FILE_READ,       /* the file must exist */
    FILE_CREATE_NEW, /* fails with HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) if the file exists */
    FILE_REPLACE,    /* created or truncated */
    FILE_APPEND, /* created if missing; file_write writes to the end, but file_write_at can overwrite existing bytes */
};
/* Opens a file. While it is open, others can read, rename and delete it (logs are read while they grow), but cannot
   write to it. */
HRESULT file_open(const char *path, enum file_mode mode, struct file **out);
/* Like file_open, but a file that is created gets this protection. */
HRESULT file_open_as(const char *path, enum file_mode mode, enum protection what, struct file **out);
/* Like file_open, but waits up to timeout_ms while another process has the file open for writing. After the timeout the
   result is HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION). */
HRESULT file_open_wait(const char *path, enum file_mode mode, uint32_t timeout_ms, struct file **out);
/* Creates a file that only this process can open, in the host OS's folder for temporary files. The file is deleted when
   it is closed. */
HRESULT file_open_scratch(struct file **out);
/* Writes everything or fails; earlier contents stay intact. Fails with ERROR_DISK_FULL if only a part could be
   written. */
HRESULT file_write(struct file *f, const void *data, size_t size);
HRESULT file_write_at(struct file *f, uint64_t offset, const void *data, size_t size);
/* Reads up to `size` bytes at the offset; *got is less than `size` only at the end of the file. */
HRESULT file_read_at(struct file *f, uint64_t offset, void *data, size_t size, size_t *got);
HRESULT file_size(struct file *f, uint64_t *size);
HRESULT file_set_size(struct file *f, uint64_t size);
HRESULT file_flush(struct file *f); /* flushes the file to the disk */
void file_close(struct file *f);    /* NULL is allowed */

/* Reads the whole file, NUL-terminated, from memory_alloc. HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE) above `limit`
   bytes. */
HRESULT file_load(const char *path, size_t limit, char **out, size_t *size);
/* Writes a temporary file beside path, flushes it and renames it over path. After a sharing violation, retries the
   rename for up to 1 s (replacing an open file fails under Wine). On failure the file at `path` is unchanged, with one
   exception: the last step flushes the folder, and if only this step fails, `path` is already the new file. */
HRESULT file_store(const char *path, const void *data, size_t size);
/* Like file_store, in two steps. The caller holds a lock only during the second step, so that others do not wait for
   the disk. Between the steps, a clean-up of the files of killed processes can delete the temporary file; the second
   step then fails with HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND). */
struct file_storing;
HRESULT file_store_begin(const char *path, const void *data, size_t size, struct file_storing **out);
HRESULT file_store_end(struct file_storing *s); /* frees `s` */
/* Called instead of the second step: deletes the temporary file and returns hr, with its error text unchanged. NULL is
   allowed. */
HRESULT file_store_drop(struct file_storing *s, HRESULT hr);
/* Replaces the temporary file's name in hr's error text with `path`, the name that users know, and returns hr. */
HRESULT file_failed_as(HRESULT hr, const char *temporary, const char *path);
HRESULT file_delete(const char *path);
/* Renames within one volume and replaces an existing file `to`. Retries after a sharing violation, as file_store
   does. */
HRESULT file_rename(const char *from, const char *to);
/* Renames a file or a folder and replaces nothing. Fails with HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) if the new name
   exists. If the process is killed during the call, the old name or both names remain. On a file system that supports
   neither such a rename nor hard links, an empty file with the new name can remain beside the old file. */
HRESULT file_rename_new(const char *from, const char *to);
/* S_OK: the name exists; S_FALSE: it does not exist; a failure: unknown. */
HRESULT file_find(const char *path);
/* Whether the path is an existing file or folder. Also false if the answer is unknown, because access is denied or
   memory has run out. */
bool file_exists(const char *path);   /* a file */
bool folder_exists(const char *path); /* a folder */
/* Whether both paths name the same file. Recognizes different paths to the file's folder, but not a second hard link to
   the file. Names that differ only in case count as equal. False if the answer is unknown. */
bool file_is_same(const char *a, const char *b);
/* Creates the folder and every missing parent. If a file with that name exists, the result is ERROR_ALREADY_EXISTS. */
HRESULT folder_create(const char *path);
/* Creates a new folder that only this user can access, in the host OS's folder for temporary files. The caller deletes
   it. */
HRESULT folder_create_temporary(char **path);
HRESULT folder_delete(const char *path); /* must be empty */
/* Lists the names (not paths) of either the files or the folders in the folder, sorted, without "." and "..". A missing
   folder fails with HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND). */
HRESULT folder_list(const char *path, bool folders, struct texts *names);
/* Lists files and folders together. */
HRESULT folder_list_all(const char *path, struct texts *names);
/* Properties of a file that are known without opening it. */
struct file_entry {
    const char *name;
    uint64_t stamp;  /* changes when the file's size or the time of its last write changes */
    int64_t written; /* the time of its last write, in the form of clock_utc */
};
/* Calls `each` for the files in the folder, in no particular order, until a call fails, and returns that failure. A
   missing folder fails with HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND). */
HRESULT folder_each_file(const char *path, HRESULT (*each)(void *user, const struct file_entry *file), void *user);
HRESULT folder_free_bytes(const char *path, uint64_t *bytes);

/* ---- below a base folder ----
   A path that contains names from a user must not lead out of its base folder (DECISIONS 36). `path` is the string
   `base` followed by these names. Links in `base` itself are followed, because the user chose `base`. The functions
   check the location of the opened file. Names with ".." or a stream fail with E_INVALIDARG. A device fails with
   HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME). A link or a hard link fails with the same error if it leads out of the base.
   Nothing outside the base is created, truncated or deleted. */
HRESULT folder_create_below(const char *base, const char *path);
HRESULT file_open_below(const char *base, const char *path, enum file_mode mode, struct file **out);
HRESULT file_delete_below(const char *base, const char *path);
/* Like file_load, but opens the file as file_open_below does. */
HRESULT file_load_below(const char *base, const char *path, size_t limit, char **out, size_t *size);

/* ---- owners and rights of files ---- */

enum file_grant {
    FILE_GRANT_ADD,    /* the account may create files in the folder; it owns these files */
    FILE_GRANT_CHANGE, /* the account may read, write and replace the file */
};
/* Grants `what` to the account with this SID, in addition to the existing rights. Returns S_FALSE in the native build
   and under Wine, because on these systems no program runs as another account. */
HRESULT file_grant(const char *path, const char *sid, enum file_grant what);
/* Like file_load, but requires a trusted owner: the system, the administrators or this process's account (in the native
   build, the superuser or this account). For any other owner the function fails with E_ACCESSDENIED and an error text
   that names the file and its owner. The function checks the file after it has opened the file, so it checks the same
   file that it reads. */
HRESULT file_load_trusted(const char *path, size_t limit, char **out, size_t *size);
/* Fails with E_ACCESSDENIED unless the open file has an owner that file_load_trusted trusts. */
HRESULT file_check_owner(struct file *f);

/* An exclusive lock between processes, based on a lock file. The system releases the lock when its holder exits. A
   process that only has the file open does not hold the lock, unless it opened the file exclusively. timeout_ms 0 means
   no waiting. After the timeout the result is HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION). The lock file is not deleted on
   release; only the lock's holder may delete it with file_delete. */
struct file_lock;
HRESULT file_lock_take(const char *path, uint32_t timeout_ms, struct file_lock **out);
/* Like file_lock_take, but a lock file that is created gets this protection instead of PROTECTION_LOCK. */
HRESULT file_lock_take_as(const char *path, enum protection what, uint32_t timeout_ms, struct file_lock **out);
void file_lock_release(struct file_lock *lock); /* NULL is allowed */

/* Joins two parts with exactly one separator; either part may be "". From memory_alloc; NULL: out of memory. */
char *path_join(const char *folder, const char *name);
/* Returns the folder with exactly one separator at its end; "" stays "". From memory_alloc. */
char *path_with_separator(const char *folder);
char *path_folder(const char *path);          /* path without its last component and the separator before it */
const char *path_name(const char *path);      /* last component, borrowed from path */
const char *path_extension(const char *path); /* ".csv" or "", borrowed from path */
/* Returns why `names`, appended to a folder and a separator, could lead out of that folder on some host OS: they
   contain "..", begin like a share, contain a drive or a stream, name a device, or are longer than PATH_NAME_MAX.
   Static text; NULL: the names are valid. */
#define PATH_NAME_MAX 255 /* UTF-16 units of one name */
const char *path_names_fault(const char *names);
/* Returns why a path that a user chose cannot be a folder: it names a device, a stream, or a share that has no files
   (such as IPC$), or a name in it is too long. Links and ".." are allowed, because they are the user's choice. Static
   text; NULL: the path can be a folder. */
const char *path_root_fault(const char *root);
/* Returns the names in `path` after `base`, borrowed from `path`. NULL: `path` does not begin with `base` and a
   separator. */
const char *path_names_behind(const char *base, const char *path);
/* Whether Windows treats this name as a device, regardless of an extension. */
bool path_is_device_name(const char *name);
/* Returns the canonical form of a module name or of module!function: in lower case, the module without folder and
   ".dll". "C:\\x\\KERNEL32.dll!Sleep" is "kernel32!sleep". From memory_alloc. */
char *path_api_name(const char *name);

/* ---- times and attributes, for code that copies files; identity of folders ---- */

struct file_traits {
    uint64_t size;
    int64_t created, accessed, written; /* FILETIME, UTC; 0: unknown on this host OS */
    uint32_t attributes; /* FILE_ATTRIBUTE_ flags; native build: read-only (from the mode), hidden (from the name) */
};
#define FILE_TRAIT_READ_ONLY 0x01u
#define FILE_TRAIT_HIDDEN    0x02u
#define FILE_TRAIT_SYSTEM    0x04u
#define FILE_TRAIT_ARCHIVE   0x20u

/* Opens a file that is read from beginning to end while others can write it. A pipe or a device fails with
   HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), so the call never waits for a pipe's writer. A folder fails with
   HRESULT_FROM_WIN32(ERROR_DIRECTORY). */
HRESULT file_open_source(const char *path, struct file **out);
HRESULT file_traits_of(struct file *f, struct file_traits *out);
/* Sets the times and attributes that the host OS stores; ignores the size. */
HRESULT file_set_traits(struct file *f, const struct file_traits *traits);

/* The identity of a folder. Two paths have the same identity if and only if they lead to the same folder. Links are
   followed. */
struct folder_identity {
    uint64_t volume, number;
};
HRESULT folder_identify(const char *path, struct folder_identity *out);

/* ---- fault injection ----
   Tests observe each operation on files and can make an operation fail, as if the disk were full or the process were
   killed. Only tests call file_observe. */

enum file_operation {
    FILE_OPERATION_OPEN,          /* opens an existing file for reading */
    FILE_OPERATION_CREATE,        /* creates a file, or opens one for writing */
    FILE_OPERATION_READ,          /* reads some bytes of an open file */
    FILE_OPERATION_WRITE,         /* writes all bytes of one call */
    FILE_OPERATION_RESIZE,        /* sets a file's size */
    FILE_OPERATION_FLUSH,         /* flushes a file */
    FILE_OPERATION_RENAME,        /* renames within a volume, over an existing file */
    FILE_OPERATION_FLUSH_FOLDER,  /* flushes a folder after a rename that must survive a crash (native build only) */
    FILE_OPERATION_DELETE,        /* deletes a file */
    FILE_OPERATION_CREATE_FOLDER, /* creates one folder */
    FILE_OPERATION_DELETE_FOLDER,
    FILE_OPERATION_LOCK, /* one attempt */
    FILE_OPERATIONS
};

/* Called before each file operation of the thread that set the observer. If it fails, with or without an error text,
   the operation is not started and returns this failure. S_FALSE makes a write stop in the middle, as on a full disk,
   and return HRESULT_FROM_WIN32(ERROR_DISK_FULL); all other operations continue. */
typedef HRESULT file_observer(void *user, enum file_operation operation, const char *path);
/* Sets the calling thread's observer; NULL removes it. */
void file_observe(file_observer *observer, void *user);

/* Calls the observer; used only in engine/base. A failure's error text names the path. */
HRESULT file_operation(enum file_operation operation, const char *path);

#endif
