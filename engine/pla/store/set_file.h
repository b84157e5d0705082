/* SPDX-License-Identifier: MIT */
/* Private header of the store: the files of a set and their lock, the access check of stored sets, owner quotas, the
   cache of definitions, and the stored line with a set's Security. */
#ifndef OPENPLA_SET_FILE_H
#define OPENPLA_SET_FILE_H

#include "engine/base/file.h"
#include "engine/base/security.h"
#include "engine/base/text.h"
#include "engine/pla/store.h"

/* ---- the files of a set ---- */

struct set_file {
    const char *space; /* static */
    char *name;        /* name of the set; NULL, like all paths but `folder`, for the namespace alone */
    char *folder;      /* of the namespace */
    char *place;       /* <folder>/<two digits>: keeps each folder small (DECISIONS 50) */
    char *definition;  /* <place>/<file>.xml */
    char *run;         /* <place>/<file>.run */
    char *run_lock;    /* <place>/<file>.running */
    char *host;        /* <place>/<file>.host */
    char *held;        /* <place>/<file>.held */
    char *folders;     /* <place>/<file>.folders */
    char *pass;        /* <place>/<file>.pass */
    struct file_lock *lock;
    HRESULT found; /* under the lock: S_OK, the definition exists; S_FALSE: it does not; E_FAIL: unknown */
};
/* Whether the definition exists, as file_find reports it. */
HRESULT set_file_find(const struct set_file *at);
/* Fills in the paths. name NULL: the namespace only. E_NOINTERFACE for an unknown namespace. Zero on failure. */
HRESULT set_file_locate(const char *space, const char *name, struct set_file *out);

/* The folder for files of that name (without extension), from memory_alloc. Wine finds a missing name by reading the
   whole folder, so one folder for thousands of sets would slow every commit. */
char *set_file_place(const char *folder, const char *file);

/* Why the lock is taken. */
enum set_file_use {
    SET_FILE_READ,   /* works without the lock if the folder is not writable: files are replaced as a whole */
    SET_FILE_CHANGE, /* for existing files */
    SET_FILE_CREATE, /* creates the namespace's folder */
};
/* Fills in the paths and takes the lock, which serializes all readers and writers of a namespace. The caller must
   check access under it (stored_set_check_access). S_FALSE, without the lock: the folder does not exist. Zero on
   failure. */
HRESULT set_file_open(const char *space, const char *name, enum set_file_use use, struct set_file *out);
/* Release and retake the lock between set_file_open and set_file_close. Without it only private files may be
   written. */
void set_file_unlock(struct set_file *at);
HRESULT set_file_lock(struct set_file *at);
struct stored_set;
/* Reads the set in folder/file.xml with the name that it was committed under; for a foreign or unreadable file the
   name comes from the file name. `out` must be zero; free it also on failure, which is E_OUTOFMEMORY only. */
HRESULT stored_set_read(const char *folder, const char *file, struct stored_set *out);
/* E_ACCESSDENIED, naming file and owner: the definition belongs to an account that may not write here
   (file_load_trusted), or cannot be opened. E_OUTOFMEMORY. */
HRESULT set_file_check_owner(const char *path);
/* Moves a definition from the namespace's folder, where people put it, to its place. `file` is its name. Under the
   lock. E_ACCESSDENIED as for set_file_check_owner: it is not moved. */
HRESULT set_file_adopt(const struct set_file *at, const char *file);
/* Moves all such definitions and removes temporary files of killed writers. *left: hash of the names that were not
   moved, 0 for none. Fails with E_OUTOFMEMORY only. */
HRESULT set_file_adopt_all(const struct set_file *at, uint64_t *left);
/* Removes temporary files of killed writers from a place. Under the lock, so that nobody is writing. */
void set_file_remove_torn(const char *place);
/* The same if the names in the place are known. */
void set_file_remove_torn_of(const char *place, const struct texts *names);
/* Whether the name is that of such a temporary file. */
bool set_file_is_torn(const char *file);
/* Records the change for those that watch the store (store_changes). Under the lock. */
void set_file_note_change(const struct set_file *at);
/* store_changes under the lock. Ignores files in the namespace's folder itself. */
struct store_mark;
HRESULT set_file_changes(const struct set_file *at, struct store_mark *mark, struct texts *names);
/* Unlocks and frees the paths. */
void set_file_close(struct set_file *at);
/* Whether `hr` means that a file or folder does not exist. */
bool set_file_is_missing(HRESULT hr);

/* Makes all watchers of the store rescan the namespace. */
void set_file_forget_changes(const struct set_file *at);
/* Check that the file is a run record, a list of what a run holds, or a list of folders: HRESULT of
   ERROR_INVALID_DATA. */
HRESULT run_record_check(const char *path);
HRESULT held_file_check(const char *path);
HRESULT folders_file_check(const char *path);

struct run_change;
/* Loads the run record, applies the change and saves it. Under the lock. */
HRESULT set_file_change_run(const struct set_file *at, const struct run_change *change);

/* ---- access check of stored sets ---- */

/* Checks a verb on the existing set. `at` is open. PLA_E_DCS_NOT_FOUND; the results of set_access_check. */
HRESULT stored_set_check_access(const struct caller *caller, enum set_access_verb verb, const struct set_file *at);
/* Checks writing a definition with `security` (NULL: invalid), over an existing set or as a new one. */
HRESULT stored_set_check_save(const struct caller *caller, const struct set_file *at, bool exists,
                              const char *security);
/* stored_set_check_access for a loaded definition whose Security line has been cut off. */
HRESULT stored_set_check_loaded(const struct caller *caller, enum set_access_verb verb, const struct set_file *at,
                                const char *xml, size_t size, const char *security);
/* The Security of a set that was read; *out is NULL if it is invalid. Borrowed from the set, which caches it.
   E_OUTOFMEMORY. */
HRESULT stored_set_security(struct stored_set *set, const char **out);

/* Decides which sets of a list the caller may see. Zero-initialise `known`. */
struct set_visibility {
    struct access_subject *who; /* NULL: this process itself, which sees all */
    const char *space;
    struct {
        char *security;
        bool seen;
    } known[8]; /* results for descriptors seen so far; most sets of a list have the same */
    size_t count;
};
HRESULT set_visibility_open(const struct caller *caller, const char *space, struct set_visibility *out);
HRESULT set_visibility_check(struct set_visibility *sight, struct stored_set *set, bool *seen);
void set_visibility_close(struct set_visibility *sight);

/* ---- quotas "sets" and "bytes" of owners ---- */

/* Under the lock of `at`: determines the owner of the definition after `caller` writes `size` bytes. *owner: UTF-8
   from memory_alloc, "" for nobody, as when a program writes without a server. The owner of an existing set does not
   change. HRESULT of ERROR_NOT_ENOUGH_QUOTA for too many sets or bytes; a definition that does not grow is always
   accepted. */
HRESULT owner_quota_check(const struct set_file *at, const struct caller *caller, size_t size, char **owner);

/* ---- cache of definitions ---- */

/* Each definition that this process has read is cached with the stamp of its file, so a list of thousands opens only
   the changed files. */

struct kept_definition {
    char *entry; /* its file's name */
    struct stored_set set;
    bool settled; /* a later change of the file will have another stamp */
};
/* The definitions of one place, sorted by file name. */
struct kept_definitions {
    struct kept_definition *items;
    size_t count, capacity;
};

typedef HRESULT see_file(void *user, const struct file_entry *file);
/* Reads the definitions of a place; a file whose stamp is cached is not opened. Under the store's lock. `also`,
   unless NULL, is called for every file of the place. Pass *out to kept_definitions_keep also on failure, which is
   E_OUTOFMEMORY, an error of the folder or one of `also`. */
HRESULT kept_definitions_read(const char *place, see_file *also, void *user, struct kept_definitions *out);
/* Returns the definitions to the cache, or frees them if caching is off or the cache is full. */
void kept_definitions_keep(const char *place, struct kept_definitions *read);
/* A copy of the cached definition with that file and stamp; S_FALSE: not cached. Free `out` also on failure. */
HRESULT kept_definitions_find(const char *place, const char *file, uint64_t stamp, struct stored_set *out);
/* Whether caching is on. */
bool kept_definitions_wanted(void);
HRESULT stored_set_copy(const struct stored_set *from, struct stored_set *out);

/* ---- the line with the Security ---- */

/* A processing instruction after the XML repeats the set's Security, so that a list of thousands of sets parses no
   XML. The XML is authoritative: the instruction contains a hash of its XML and is ignored after another one. */

/* Appends the line to the XML, which must be all of the content so far. Omits a descriptor that does not fit. */
void stored_security_add(struct text_buffer *content, const char *security);
/* Cuts the line off the end of the text and returns its descriptor, terminated; NULL: read it from the XML, or the
   descriptor is not used. */
char *stored_security_cut(char *xml, size_t *size, bool used);

#endif
