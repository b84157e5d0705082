/* SPDX-License-Identifier: MIT */
/* The store of sets: <data folder>/sets/<namespace>/<place>/<name>.xml, one file per set, with its run record beside
   it. The place is a folder whose name is two digits computed from the set's name. If people put a definition into the
   namespace's folder, the store moves the definition to its place. engine/pla/store/store.c describes the layout and
   the recovery.

   Functions with a `caller` check that caller against the set's Security, and fail with SET_ACCESS_REFUSED. Run records
   are for the program itself and have no access check. */
#ifndef OPENPLA_STORE_H
#define OPENPLA_STORE_H

#include "engine/base/process.h"
#include "engine/base/security.h"
#include "engine/base/text.h"

#include <stdbool.h>

/* ---- access check ---- */

/* Only these functions decide whether a caller may perform a verb on a set. The functions check the stored descriptor,
   under the lock of the store, before the verb has any effect. MS-PLA 3.2.1, 3.2.4.1 (Security); behaviour 5. */

enum set_access_verb {
#define SET_ACCESS(verb, text, set_rights, session_rights, administrators) SET_ACCESS_##verb,
#include "engine/pla/store/access_verbs.def"
#undef SET_ACCESS
    SET_ACCESS_CREATE, /* a new set: administrators and Performance Log Users */
    SET_ACCESS_VERBS
};

/* Access denied, with a message for the caller. This code is not E_ACCESSDENIED, because an unreadable file can also
   cause E_ACCESSDENIED. Clients get E_ACCESSDENIED instead (refusal_answer in engine/pla/definition.h). */
#define SET_ACCESS_REFUSED ((HRESULT)0xA0300011)

/* The set whose access is checked. */
struct set_access_object {
    const char *space, *name;
    const char *security; /* as stored, "" for the default; NULL: unreadable, so only administrators have access */
    bool session;         /* a trace session, or a set that starts one */
};
/* Checks whether `who` may perform the verb: S_OK, SET_ACCESS_REFUSED, E_OUTOFMEMORY. */
HRESULT set_access_check(const struct access_subject *who, enum set_access_verb verb,
                         const struct set_access_object *set);
/* Checks whether `who` may replace the set's definition with one whose Security is `security`. A caller who may change
   Security does not yet need the right to change the set, if the new Security grants this right. */
HRESULT set_access_check_change(const struct access_subject *who, const struct set_access_object *set,
                                const char *security);
/* Checks whether `who` may create a set. Only administrators may create sets that start with the system (`boot`). */
HRESULT set_access_check_create(const struct access_subject *who, const struct set_access_object *set, bool boot);
/* Works like set_access_check, for a single check of a caller. Always S_OK if the caller is this process itself. */
HRESULT set_access_check_caller(const struct caller *caller, enum set_access_verb verb,
                                const struct set_access_object *set);

/* Returns the descriptor for a stored string: the default descriptor for "", otherwise the string. */
const char *set_access_security(const char *security);
/* Returns the Security of a set that a non-administrator creates without setting Security. The account `sid` is the
   owner; in addition to the default Security, this account has full access. From memory_alloc. */
char *set_access_creator_security(const char *sid);

/* ---- definitions, runs and their files ---- */

/* Splits "[Namespace\]Name" (MS-PLA; behaviour 4); the default namespace is "Service". Checks the name by DECISIONS
   15: E_INVALIDARG for an empty name, / : * ? " < > |, control characters or another backslash; the message contains
   the name. E_NOINTERFACE for an unknown namespace. *space is static and in canonical spelling; *name is from
   memory_alloc and in the caller's spelling. */
HRESULT store_split_name(const char *full, const char **space, char **name);
/* Checks further rules for names of new sets: at most STORE_NAME_MAX UTF-16 units, and no bidirectional control
   characters. A name of this length fits into a host process's command line and an ETW session name. E_INVALIDARG: the
   name violates a rule. Existing sets, such as other programs' trace sessions, can be queried and deleted by any
   name. */
#define STORE_NAME_MAX 1024
HRESULT store_check_new_name(const char *name);

/* Returns a safe, case-folded, reversible file name for a set. Escapes as %XX: reserved device names, trailing dots and
   spaces, and bytes that some file systems reject. From memory_alloc. */
char *store_file_name(const char *name);

enum store_mode { STORE_CREATE, STORE_MODIFY, STORE_CREATE_OR_MODIFY };
struct run_record;
/* A change of a run record. `change` may return S_FALSE: nothing to save. If another process writes the record in
   between, `change` is called again with the new record. `change` must not call the store. */
struct run_change {
    HRESULT (*change)(struct run_record *record, const void *user);
    const void *user;
};
/* Saves the set's XML (UTF-8) and applies `change`, which may be NULL, to the run record. Depending on the mode, fails
   with PLA_E_DCS_ALREADY_EXISTS or PLA_E_DCS_NOT_FOUND. HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA): see
   owner_quota_check. Files are replaced as a whole; writers of all processes are serialized. *created: whether the set
   is new; may be NULL. */
HRESULT store_save(const struct caller *caller, const char *space, const char *name, enum store_mode mode,
                   const char *xml, size_t size, const struct run_change *change, bool *created);
/* A set's XML and its Security. `security` NULL: the Security is unknown, and the store reads it from the XML. */
struct written_set {
    const char *xml, *security;
    size_t size;
};
/* Works like store_save, for XML that the program has just written. The store does not have to parse the XML if
   set->security is set. */
HRESULT store_save_written(const struct caller *caller, const char *space, const char *name, enum store_mode mode,
                           const struct written_set *set, const struct run_change *change, bool *created);
/* Loads the set's XML; *xml is from memory_alloc. PLA_E_DCS_NOT_FOUND. */
HRESULT store_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size);
/* Loads only the end of the stored definition, without an access check: the last bytes of the XML and the account line
   after it. */
HRESULT store_load_lines(const char *space, const char *name, char **lines, size_t *size);
/* Checks whether the caller may perform the verb on the stored set. PLA_E_DCS_NOT_FOUND. */
HRESULT store_check_access(const struct caller *caller, enum set_access_verb verb, const char *space, const char *name);
struct stored_set;
/* Reads the stored set without an access check, for the checks before a verb that changes it. out->security is NULL if
   Security is invalid; out->xml is NULL if the definition cannot be read. S_FALSE: the set does not exist. Always free
   `out`. */
HRESULT store_read_set(const char *space, const char *name, struct stored_set *out);
/* Works like store_check_access, for a set that store_read_set has read. `set` NULL: the set does not exist. */
HRESULT store_check_access_read(const struct caller *caller, enum set_access_verb verb, const char *space,
                                const char *name, const struct stored_set *set);
/* Deletes the set's definition and its run record. PLA_E_DCS_NOT_FOUND. */
HRESULT store_delete(const struct caller *caller, const char *space, const char *name);
/* Lists the set names of a namespace, in the spelling with which the sets were committed. */
HRESULT store_list(const struct caller *caller, const char *space, struct texts *names);
/* Lists definitions in the namespace's folder that the store ignores because they belong to an account that may not
   write to the store. Adds two strings for each definition: the path and the reason. *out is empty on failure. */
HRESULT store_list_foreign(const char *space, struct texts *out);
/* A set of a list. The name and the XML are from memory_alloc; the XML is NULL if the definition could not be read. */
struct stored_set {
    char *name, *xml;
    size_t size;
    char *security; /* Security, from the line after the XML; NULL: use stored_set_security */
    char *file;     /* name of the file without .xml; lists are sorted by it */
    uint64_t stamp; /* stamp of the file before it was read; 0: unknown */
    bool sound;     /* the XML is valid: the Security line has the hash of the XML, or store_note_sound was called */
};
struct stored_sets {
    struct stored_set *items;
    size_t count, capacity;
};
/* Loads the sets whose names match the pattern (text_matches) and that the caller may read, in one scan of the
   namespace. *out is empty on failure. */
HRESULT store_load_matching(const struct caller *caller, const char *space, const char *pattern,
                            struct stored_sets *out);
void stored_sets_free(struct stored_sets *sets);
/* Shows whether a definition or its run record has changed, without reading either file. */
struct stored_stamp {
    char *file; /* as in stored_set */
    uint64_t stamp;
    uint64_t of_file; /* stamp of the definition alone */
    bool definition;  /* the definition's file exists; always true in a list of store_list_stamps */
    bool has_run;     /* the set has been run: its run lock file exists, whether held or not */
    bool has_record;  /* the set has a run record */
};
struct stored_stamps {
    struct stored_stamp *items;
    size_t count, capacity;
};
/* Lists the stamps of all definitions of the namespace, sorted by file. Removes temporary files of killed writers. */
HRESULT store_list_stamps(const char *space, struct stored_stamps *out);
/* Reads the set that belongs to a stamp from store_list_stamps. Free `out` even on failure. */
HRESULT store_read_in(const char *space, const struct stored_stamp *stamp, struct stored_set *out);
void stored_set_free(struct stored_set *set);
/* Turns this process's cache of definitions on or off. With the cache, a list opens a file again only if it has
   changed. */
void store_keep_definitions(bool keep);
/* Records that the set's XML is a valid definition, so that later readers do not check it again. */
void store_note_sound(const char *space, const struct stored_set *set);
/* Reads the name under which the set of that stamp was committed; *name is from memory_alloc. */
HRESULT store_name_in(const char *space, const struct stored_stamp *stamp, char **name);
void stored_stamps_free(struct stored_stamps *stamps);
/* Adds `name` to a definition file. A definition contains the set's name, because the file name does not preserve case.
   The name is missing if the store moved the file to its place before the writing program had finished. Does nothing
   unless the definition is complete and has no name. */
HRESULT store_complete_name(const char *space, const char *name);
/* A position in the changes of a namespace. Zero-initialise. */
struct store_mark {
    char first[64];
    size_t size;
    uint64_t left; /* hash of the file names of definitions that could not be moved to their places; 0: none */
};
/* Lists the changes since the mark, and updates the mark. S_OK: *names contains the names of the sets that were saved,
   deleted or run. S_FALSE: the changes are unknown; scan everything. */
HRESULT store_changes(const char *space, struct store_mark *mark, struct texts *names);
/* The known namespaces: static, terminated by NULL. */
const char *const *store_namespaces(void);

/* The record of a set's runs, stored separately from the definition (DECISIONS 47). */
struct run_record {
    bool known;                /* false: the set has never run */
    uint32_t serial_number;    /* serial number of the next run */
    char *latest_location;     /* output folder of the latest run */
    struct texts latest_files; /* latest output file of each collector, by its index; "": none */
    HRESULT last_result;       /* result of the latest start or run */
    char *last_message;        /* details of that result: dropped counters, lost samples */
    bool running;              /* a run has begun and not ended normally: its host process is running or has died */
    int64_t last_scheduled;    /* FILETIME UTC of the latest scheduled start; 0: none */
};
HRESULT store_load_run(const char *space, const char *name,
                       struct run_record *out); /* S_OK, with known false, if there is no record */
/* Loads the record, applies the change, and saves the record. If another process has saved the record in the meantime,
   starts again with the new record, so that no change is lost. Does not hold the lock while it flushes data to the
   disk. */
HRESULT store_update_run(const char *space, const char *name, const struct run_change *change);
/* Overwrites a byte of the record's file to mark the run as ended. This requires no disk space and changes nothing
   else. S_FALSE: the run is already marked, or there is no record. */
HRESULT store_mark_ended(const char *space, const char *name);
/* Replaces an owned string of a record. On failure (E_OUTOFMEMORY) the string is unchanged. */
HRESULT run_record_set_text(char **field, const char *value);
void run_record_free(struct run_record *record);

/* Returns the path of a namespace's folder. The folder may not exist yet. From memory_alloc; NULL when out of
   memory. */
char *store_folder(const char *space);
/* Returns the path of the set's definition, for messages. From memory_alloc; NULL when out of memory. */
char *store_definition_path(const char *space, const char *name);
/* Returns the path of the lock file that a run holds until it ends. From memory_alloc. */
char *store_run_lock_path(const char *space, const char *name);
/* Returns the path of the lock file that a retention pass holds. From memory_alloc. */
char *store_pass_lock_path(const char *space, const char *name);

/* The registration of a set's host process. Only the holder of the run lock writes it. Other processes cannot guess
   its contents. */
struct run_host {
    uint32_t process_id;
    uint64_t process_start; /* process_start_time */
    char key[33];           /* random hexadecimal digits, part of the names of the shared objects */
    char owner[192];        /* section_owner of the shared section; a SID has up to 184 characters */
};
/* Lists the file names (as in stored_set) of the namespace's sets for which a host process is registered. The host
   process may have exited since. Takes no lock. */
HRESULT store_list_hosts(const char *space, struct texts *files);
/* Reads the registration. S_FALSE: no registration exists, or it is incomplete. Takes no lock and never blocks. */
HRESULT store_load_host(const char *space, const char *name, struct run_host *out);
/* Replaces the registration. Error texts, for example of ERROR_DISK_FULL, name the file. */
HRESULT store_save_host(const char *space, const char *name, const struct run_host *host);
void store_remove_host(const char *space, const char *name);

/* Call before a set's host process starts under the account with that SID: lets the account write the files of a run,
   but not the definition. Windows only; elsewhere all processes have the same account. */
HRESULT store_let_run(const char *space, const char *name, const char *sid);

/* The list of resources that remain if a run's host process is killed, one line each (engine/pla/run/member.h). Only
   the holder of the run lock writes it. S_FALSE, with *out empty: there is no list. */
HRESULT store_load_held(const char *space, const char *name, struct texts *out);
HRESULT store_save_held(const char *space, const char *name, const struct texts *lines);
void store_remove_held(const char *space, const char *name);

/* Loads the list of folders that a set's runs have created, one line each in the order of the runs
   (engine/pla/retention/folder_record.h). The list is deleted with the set. S_FALSE, with *out empty: there is no
   list. */
HRESULT store_load_folders(const char *space, const char *name, struct texts *out);
/* `change` may return S_FALSE: nothing to save. Called under the namespace's lock; it must not call the store. A new
   list replaces an invalid one. */
struct folders_change {
    HRESULT (*change)(struct texts *lines, void *user);
    void *user;
};
HRESULT store_change_folders(const char *space, const char *name, const struct folders_change *change);

/* ---- names of sets and of files ---- */

/* Finds a namespace, ignoring case; *known is static. E_NOINTERFACE, with a message: the namespace is unknown. */
HRESULT store_find_namespace(const char *space, const char **known);
/* Returns the folded set name from which store_file_name made `file`; for a shortened name, returns `file`. From
   memory_alloc; NULL when out of memory. */
char *store_name_of_file(const char *file);

/* ---- lines after the XML: name and owner ---- */

/* One processing instruction contains the name as it was committed (the file name does not preserve its case) and the
   account that created the set. */

#define DEFINITION_MAX   ((16u << 20) + 4096) /* bytes of a file; longer XML is rejected */
#define STORED_LINE_MAX  4096                 /* largest size of the instruction in bytes */
#define STORED_LINES_MAX 8192                 /* largest size of all the instructions after the XML together */
#define STORED_OWNER_MAX 600                  /* bytes; Windows' domain and user names have up to 256 characters each */

/* Appends the instruction. owner "": no owner */
void stored_name_add(struct text_buffer *content, const char *name, const char *owner);
/* Returns whether the instruction can store that account name. */
bool stored_owner_fits(const char *owner);
/* Cuts the instruction off the end of the text and returns the name in it, NUL-terminated. NULL: there is no
   instruction. */
char *stored_name_cut(char *xml, size_t *size);
/* Works like stored_name_cut, and also returns the owner, NUL-terminated and never NULL; "": no owner. */
char *stored_line_cut(char *xml, size_t *size, const char **owner);

/* ---- lines after the XML: account and secret ---- */

/* One processing instruction contains the account that the set runs as and the key of its secret. It precedes the line
   with the Security. */

/* The account of a stored definition. Zero-initialise. */
struct set_account {
    char *user;                      /* "": the service's account, LocalSystem */
    char key[SHARED_KEY_DIGITS + 1]; /* key of the set's secret; "": none */
};
/* Reads the account line, which must be the last line of the XML. A definition without an account line is valid.
   E_OUTOFMEMORY. */
HRESULT set_account_read(const char *xml, size_t size, struct set_account *out);
void set_account_free(struct set_account *a);
/* Appends the line to the XML (from memory_alloc) unless it would be empty. On failure the XML is unchanged. */
HRESULT set_account_add(const struct set_account *a, char **xml, size_t *size);
/* Searches the whole text, which may be corrupt, and adds to `keys` everything that looks like a secret's key in an
   account line, so that no key is missed. E_OUTOFMEMORY. */
HRESULT set_account_find_keys(const char *text, size_t size, struct texts *keys);

/* ---- sets of the namespace System ---- */

/* The program contains the definitions of System sets; the store has only the files of their runs. */

#define SYSTEM_SPACE "System"

struct system_set {
    const char *name, *xml;
};
/* Compiled from engine/pla/store/system_sets/; terminated by NULL. */
extern const struct system_set system_sets[];

/* Returns the System set with that name, ignoring case; NULL: none. */
const struct system_set *system_set_find(const char *name);
/* Returns whether `space` is System and has a set with that name. */
bool system_set_is_one(const char *space, const char *name);

/* ---- checking and repairing the files ---- */

/* For each fault: a word for programs, and a text for people. */
#define STORE_FAULTS(X)                                                                                                \
    X(TORN, "torn", "left by a program that ended while writing; nothing in it was committed")                         \
    X(UNUSABLE, "unusable", "not a usable definition")                                                                 \
    X(MISPLACED, "misplaced", "not at the place of a set of this name")                                                \
    X(TWICE, "twice", "second file of a set")                                                                          \
    X(ORPHAN, "orphan", "its set does not exist")                                                                      \
    X(DAMAGED, "damaged", "cannot be read")                                                                            \
    X(LINK, "link", "a link instead of a file or folder of the store")                                                 \
    X(FOREIGN, "foreign", "owned by another account, which could change this file or folder")                          \
    X(OPEN, "open", "accessible to accounts other than its owner, the system and administrators")                      \
    X(STRANGE, "strange", "not created by the store")
enum store_fault {
#define X(name, word, text) STORE_##name,
    STORE_FAULTS(X)
#undef X
};
const char *store_fault_word(enum store_fault fault);
const char *store_fault_text(enum store_fault fault);

struct store_finding {
    enum store_fault fault;
    const char *path;
    const char *detail; /* more about the fault; may be "" */
    /* S_FALSE: no repair was requested, or only the user can repair the fault. A failure: the repair failed, and the
       thread's error text is the reason. S_OK: repaired; `to` is the file's new path, "" if it was removed or changed
       in place. */
    HRESULT repaired;
    const char *to;
};
/* Checks all namespaces, each under its lock, and calls `each` for every finding; if `each` fails, the check ends.
   `repair`: also repairs what can be repaired without loss. Moves unreadable files, and files without a set, to the
   folder `aside` of the data folder. Run records without a set stay, because serial numbers would be repeated without
   these records. Definitions are never deleted. */
HRESULT store_check(bool repair, HRESULT (*each)(void *user, const struct store_finding *finding), void *user);

#endif
