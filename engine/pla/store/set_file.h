/* SPDX-License-Identifier: MIT */
/* Private header of the store: the files of a set and their lock, the access check of stored sets, the quotas of
   owners, the cache of definitions, and the stored line with a set's Security. */
#ifndef OPENPLA_SET_FILE_H
#define OPENPLA_SET_FILE_H

#include "engine/base/file.h"
#include "engine/base/security.h"
#include "engine/base/text.h"
#include "engine/pla/store.h"

/* ---- the files of a set ---- */

struct set_file {
    const char *space; /* static */
    char *name;        /* name of the set; NULL for a namespace alone, which has no paths except `folder` */
    char *folder;      /* the namespace's folder */
    char *place;       /* <folder>/<two digits>: keeps each folder small (DECISIONS 50) */
    char *definition;  /* <place>/<file>.xml */
    char *run;         /* <place>/<file>.run */
    char *run_lock;    /* <place>/<file>.running */
    char *host;        /* <place>/<file>.host */
    char *held;        /* <place>/<file>.held */
    char *folders;     /* <place>/<file>.folders */
    char *pass;        /* <place>/<file>.pass */
    struct file_lock *lock;
    HRESULT found; /* valid under the lock. S_OK: the definition exists; S_FALSE: it does not; E_FAIL: unknown */
};
/* S_OK: the definition exists; S_FALSE: it does not exist; a failure: unknown. */
HRESULT set_file_find(const struct set_file *at);
/* Fills in the paths. `name` NULL: fills in only the paths of the namespace. E_NOINTERFACE: the namespace is unknown.
   On failure *out is zero. */
HRESULT set_file_locate(const char *space, const char *name, struct set_file *out);

/* Returns the folder for files of that name (without extension), from memory_alloc. */
char *set_file_place(const char *folder, const char *file);

/* The purpose for which the lock is taken. */
enum set_file_use {
    SET_FILE_READ,   /* works without the lock if the folder is not writable, because files are replaced as a whole */
    SET_FILE_CHANGE, /* for existing files */
    SET_FILE_CREATE, /* creates the namespace's folder */
};
/* Fills in the paths and takes the lock, which serializes all readers and writers of a namespace. The caller must check
   access while it holds the lock (stored_set_check_access). S_FALSE: the folder does not exist, and the lock was not
   taken. *out is zero on failure. */
HRESULT set_file_open(const char *space, const char *name, enum set_file_use use, struct set_file *out);
/* Release and retake the lock between set_file_open and set_file_close. While the lock is released, only temporary
   files may be written. */
void set_file_unlock(struct set_file *at);
HRESULT set_file_lock(struct set_file *at);
struct stored_set;
/* Reads the set in that file. The set's name is the name under which the set was committed. For a foreign or unreadable
   file, the name is derived from the file name. `out` must be zero. The only failure is E_OUTOFMEMORY; free `out` even
   then. */
HRESULT stored_set_read(const char *folder, const char *file, struct stored_set *out);
/* Checks the owner of a definition. Fails with E_ACCESSDENIED if the file belongs to an account that may not write
   here; the message then names the file and its owner (file_load_trusted). Also fails with E_ACCESSDENIED if access to
   the file is denied. The only other failure is E_OUTOFMEMORY. */
HRESULT set_file_check_owner(const char *path);
/* Moves a definition from the namespace's folder, where people put definitions, to its place. `file` is the name of the
   file in the namespace's folder. Call it under the lock. E_ACCESSDENIED: set_file_check_owner rejects the file, so the
   file was not moved. */
HRESULT set_file_adopt(const struct set_file *at, const char *file);
/* Moves all such definitions, and removes temporary files of killed writers. *left: hash of the names of the files that
   were not moved; 0: none. Fails with E_OUTOFMEMORY only. */
HRESULT set_file_adopt_all(const struct set_file *at, uint64_t *left);
/* Removes temporary files of killed writers from a place. Call it under the lock, so that no process is writing a
   definition. */
void set_file_remove_torn(const char *place);
/* Works like set_file_remove_torn, for a place whose file names are already known. */
void set_file_remove_torn_of(const char *place, const struct texts *names);
/* Returns whether this is the name of such a temporary file. */
bool set_file_is_torn(const char *file);
/* Records a change for the processes that watch the store (store_changes). Call it under the lock. */
void set_file_note_change(const struct set_file *at);
/* Works like store_changes, but ignores definitions that people put into the namespace's folder. Call it under the
   lock. */
struct store_mark;
HRESULT set_file_changes(const struct set_file *at, struct store_mark *mark, struct texts *names);
/* Unlocks and frees the paths. */
void set_file_close(struct set_file *at);
/* Returns whether `hr` means that a file or folder does not exist. */
bool set_file_is_missing(HRESULT hr);

/* Makes all watchers of the store scan the namespace again. */
void set_file_forget_changes(const struct set_file *at);
/* Check that the file is a run record, a list of the resources that a run holds, or a list of folders.
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA): it is not. */
HRESULT run_record_check(const char *path);
HRESULT held_file_check(const char *path);
HRESULT folders_file_check(const char *path);

struct run_change;
/* Loads the run record, applies the change and saves the record. Call it under the lock. */
HRESULT set_file_change_run(const struct set_file *at, const struct run_change *change);

/* ---- access check of stored sets ---- */

/* Checks whether the caller may use the verb on the existing set. `at` must be open. Returns PLA_E_DCS_NOT_FOUND, or
   the results of set_access_check. */
HRESULT stored_set_check_access(const struct caller *caller, enum set_access_verb verb, const struct set_file *at);
/* Checks whether the caller may write a definition with the Security `security`, for an existing or a new set.
   `security` NULL: the Security is invalid. */
HRESULT stored_set_check_save(const struct caller *caller, const struct set_file *at, bool exists,
                              const char *security);
/* Works like stored_set_check_access, for a loaded definition whose Security line has been cut off. */
HRESULT stored_set_check_loaded(const struct caller *caller, enum set_access_verb verb, const struct set_file *at,
                                const char *xml, size_t size, const char *security);
/* Returns the Security of a set that was read. *out is borrowed from the set, which caches it; NULL: invalid. Fails
   with E_OUTOFMEMORY only. */
HRESULT stored_set_security(struct stored_set *set, const char **out);

/* Determines which sets of a list the caller may see. Zero-initialise `known`. */
struct set_visibility {
    struct access_subject *who; /* NULL: this process itself, which may see all sets */
    const char *space;
    struct {
        char *security;
        bool seen;
    } known[8]; /* results for earlier descriptors; most sets of a list have the same descriptor */
    size_t count;
};
HRESULT set_visibility_open(const struct caller *caller, const char *space, struct set_visibility *out);
HRESULT set_visibility_check(struct set_visibility *sight, struct stored_set *set, bool *seen);
void set_visibility_close(struct set_visibility *sight);

/* ---- quotas "sets" and "bytes" of owners ---- */

/* Determines who will own the definition after `caller` has written `size` bytes, and checks the quotas of that owner.
   Call it under the lock of `at`. *owner: UTF-8 from memory_alloc; "": no owner, for example because a program writes
   without a server. The owner of an existing set does not change. HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA): too many
   sets or bytes. A definition that does not grow is always accepted. */
HRESULT owner_quota_check(const struct set_file *at, const struct caller *caller, size_t size, char **owner);

/* ---- cache of definitions ---- */

/* Each definition that this process has read is cached with the stamp of its file, so that listing thousands of sets
   opens only the changed files. */

struct kept_definition {
    char *entry; /* file name of the definition */
    struct stored_set set;
    bool settled; /* a later change will give the file another stamp */
};
/* The definitions of one place, sorted by file name. */
struct kept_definitions {
    struct kept_definition *items;
    size_t count, capacity;
};

typedef HRESULT see_file(void *user, const struct file_entry *file);
/* Reads the definitions of a place; a file whose stamp is cached is not opened. Call it under the store's lock. `also`,
   unless NULL, is called for every file of the place. Fails with E_OUTOFMEMORY, with the error of reading the folder,
   or with the failure that `also` returned. Pass *out to kept_definitions_keep regardless of the result. */
HRESULT kept_definitions_read(const char *place, see_file *also, void *user, struct kept_definitions *out);
/* Returns the definitions to the cache, or frees them if caching is off or the cache is full. */
void kept_definitions_keep(const char *place, struct kept_definitions *read);
/* Copies the cached definition with that file and stamp. S_FALSE: not cached. Free `out` regardless of the result. */
HRESULT kept_definitions_find(const char *place, const char *file, uint64_t stamp, struct stored_set *out);
/* Returns whether definitions are cached. */
bool kept_definitions_wanted(void);
HRESULT stored_set_copy(const struct stored_set *from, struct stored_set *out);

/* ---- the line with the Security ---- */

/* A processing instruction after the XML repeats the set's Security, so that no XML is parsed to list thousands of
   sets. Only the Security in the XML is authoritative: the instruction contains a hash of the XML, and the instruction
   is ignored if the XML has changed. */

/* Appends the line to the content, which must contain only the XML and the account line. Does nothing if the descriptor
   does not fit into a line. */
void stored_security_add(struct text_buffer *content, const char *security);
/* Cuts the Security line off the end of the text and returns the descriptor in the line, NUL-terminated. NULL: the
   caller must read the Security from the XML, or `used` is false. */
char *stored_security_cut(char *xml, size_t *size, bool used);

#endif
