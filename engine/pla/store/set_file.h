/* SPDX-License-Identifier: MIT */
/* The private header of the store: the files of one set and their lock, the access check in front of them, quotas of
   owners, definitions that are kept in memory, and the line that holds a set's Security. */
#ifndef OPENPLA_SET_FILE_H
#define OPENPLA_SET_FILE_H

#include "engine/base/file.h"
#include "engine/base/security.h"
#include "engine/base/text.h"
#include "engine/pla/store.h"

/* ---- the files of a set ---- */

struct set_file {
    const char *space; /* static */
    char *name;        /* of the set; NULL as the rest where it is the namespace only */
    char *folder;      /* of the namespace */
    char *place;       /* <folder>/<two digits>: where the set's files are among few others (DECISIONS 50) */
    char *definition;  /* <place>/<file>.xml */
    char *run;         /* <place>/<file>.run */
    char *run_lock;    /* <place>/<file>.running */
    char *host;        /* <place>/<file>.host */
    char *held;        /* <place>/<file>.held */
    char *folders;     /* <place>/<file>.folders */
    char *pass;        /* <place>/<file>.pass */
    struct file_lock *lock;
};
/* The paths alone. name NULL: the namespace only. E_NOINTERFACE for an unknown namespace. Zero on failure. */
HRESULT set_file_locate(const char *space, const char *name, struct set_file *out);

/* The folder of the files of that name (without extension), from memory_alloc. Wine looks for a name that is not there
   by reading the whole folder: one of thousands would make each commit dear. */
char *set_file_place(const char *folder, const char *file);

/* What a lock is taken for. */
enum set_file_use {
    SET_FILE_READ,   /* where one may not write it goes without a lock: files are replaced whole */
    SET_FILE_CHANGE, /* what is there already */
    SET_FILE_CREATE, /* makes the folder of the namespace */
};
/* Locates and locks: all readers and writers of a namespace follow one another. Under the lock who asks for another
   process is held against the set (stored_set_check_access). S_FALSE, and no lock, when the folder is not there. Zero
   on failure. */
HRESULT set_file_open(const char *space, const char *name, enum set_file_use use, struct set_file *out);
/* Lets others in, and waits for them, between set_file_open and set_file_close. Without the lock only what nobody else
   looks at may be written. */
void set_file_unlock(struct set_file *at);
HRESULT set_file_lock(struct set_file *at);
struct stored_set;
/* The set in folder/file, an .xml, with the name that it was committed under; of a file that others put there or that
   cannot be read, the name that its own name says. `out` is zero before, and to be freed also on failure, which is
   E_OUTOFMEMORY. */
HRESULT stored_set_read(const char *folder, const char *file, struct stored_set *out);
/* E_ACCESSDENIED, with the file and its owner in the text: the definition is one of an account that does not write here
   (file_load_trusted), or it cannot be opened. E_OUTOFMEMORY. */
HRESULT set_file_check_owner(const char *path);
/* Puts a definition that lies in the namespace's folder itself, as people put it there, into its place. `file` is its
   name. Under the lock. E_ACCESSDENIED as set_file_check_owner: it stays where it is. */
HRESULT set_file_adopt(const struct set_file *at, const char *file);
/* The same for all that lie there, and away with what killed writers left among them. What cannot be moved stays:
 *left is a hash of the names, 0 where there is none. E_OUTOFMEMORY alone is told. */
HRESULT set_file_adopt_all(const struct set_file *at, uint64_t *left);
/* What a writer left in a place that was killed while it wrote. Under the lock of the namespace nobody is writing. */
void set_file_remove_torn(const char *place);
/* Whether a file's name is one that such a writer leaves. */
bool set_file_is_torn(const char *file);
/* Tells those who watch the store that the set has changed (store_changes). Under the lock. */
void set_file_note_change(const struct set_file *at);
/* store_changes under the lock. What lies in the namespace's folder itself is not looked at. */
struct store_mark;
HRESULT set_file_changes(const struct set_file *at, struct store_mark *mark, struct texts *names);
/* Unlocks, and frees what either gave. */
void set_file_close(struct set_file *at);
/* Whether `hr` says that there is no such file or folder. */
bool set_file_is_missing(HRESULT hr);

/* Has those who watch the store look at all of the namespace. */
void set_file_forget_changes(const struct set_file *at);
/* Whether the file is a run record, a list of what a run holds, and one of folders: ERROR_INVALID_DATA's HRESULT when
   not. */
HRESULT run_record_check(const char *path);
HRESULT held_file_check(const char *path);
HRESULT folders_file_check(const char *path);

struct run_change;
/* Loads the run record, has it changed and saves it. */
HRESULT set_file_change_run(const struct set_file *at, const struct run_change *change);

/* ---- access check: what the files of a set say of who may do what ---- */

/* Before something is done with the set that is there. `at` is open. PLA_E_DCS_NOT_FOUND; what set_access_check
 * answers. */
HRESULT stored_set_check_access(const struct caller *caller, enum set_access_verb verb, const struct set_file *at);
/* Before a definition that says `security` (NULL: that cannot be told) is written: in place of one, or as a new set. */
HRESULT stored_set_check_save(const struct caller *caller, const struct set_file *at, bool exists,
                              const char *security);
/* The same as stored_set_check_access for a definition that has been loaded, with its line of the security cut off. */
HRESULT stored_set_check_loaded(const struct caller *caller, enum set_access_verb verb, const struct set_file *at,
                                const char *xml, size_t size, const char *security);
/* Security of the set as it was read; *out NULL: it cannot be told. Borrowed, and kept with the set. E_OUTOFMEMORY. */
HRESULT stored_set_security(struct stored_set *set, const char **out);

/* Which sets of a list a caller may see. Zero-initialise `known`. */
struct set_visibility {
    struct access_subject *who; /* NULL: this process itself, which sees all */
    const char *space;
    struct {
        char *security;
        bool seen;
    } known[8]; /* most sets of a list say the same */
    size_t count;
};
HRESULT set_visibility_open(const struct caller *caller, const char *space, struct set_visibility *out);
HRESULT set_visibility_check(struct set_visibility *sight, struct stored_set *set, bool *seen);
void set_visibility_close(struct set_visibility *sight);

/* ---- quotas "sets" and "bytes" of owners ---- */

/* Under the lock of `at`: whose its definition is once `caller` has written `size` bytes of it, as UTF-8 in *owner,
   from memory_alloc; "" is nobody, as of what a program writes without a server. A definition stays with who made it.
   HRESULT of ERROR_NOT_ENOUGH_QUOTA where it would be one set too many, or too many bytes; what is not more than it was
   is always taken. */
HRESULT owner_quota_check(const struct set_file *at, const struct caller *caller, size_t size, char **owner);

/* ---- definitions in memory ---- */

/* Each definition that this process has read is kept with the stamp of its file, so that a list of thousands opens only
   the files that have changed. */

struct kept_definition {
    char *entry; /* its file's name */
    struct stored_set set;
    bool settled; /* a later change of the file is another stamp */
};
/* Those of one place, in the order of their files' names. */
struct kept_definitions {
    struct kept_definition *items;
    size_t count, capacity;
};

typedef HRESULT see_file(void *user, const struct seen_file *file);
/* Reads what is in the place now: a file that is kept with its stamp is not opened. Under the store's lock. All files
   of the place are given to `also`, unless that is NULL. *out is for kept_definitions_keep also on failure, which is
   E_OUTOFMEMORY, the folder's or that of `also`. */
HRESULT kept_definitions_read(const char *place, see_file *also, void *user, struct kept_definitions *out);
/* Gives back what was read; where nothing is kept, or no more than now, it is freed. */
void kept_definitions_keep(const char *place, struct kept_definitions *read);
/* A copy of what is kept of that file with this stamp; S_FALSE: nothing is. `out` is to be freed also on failure. */
HRESULT kept_definitions_find(const char *place, const char *file, uint64_t stamp, struct stored_set *out);
/* Whether what was read of definitions is kept at all. */
bool kept_definitions_wanted(void);
HRESULT stored_set_copy(const struct stored_set *from, struct stored_set *out);

/* ---- the line of the Security ---- */

/* Behind the XML stands one processing instruction with the set's Security, so that a list of thousands of sets parses
   no XML. The XML stays the truth: the instruction says to which XML it belongs, and is ignored behind another one. */

/* Behind the XML, which is all of the content so far. A text that cannot stand there is left out. */
void stored_security_add(struct text_buffer *content, const char *security);
/* Cuts the instruction off the end of the text; returns the descriptor in it, terminated, or NULL: the XML has to be
   asked. */
char *stored_security_cut(char *xml, size_t *size);

#endif
