/* SPDX-License-Identifier: MIT */
/* The store of sets: <data folder>/sets/<namespace>/<place>/<name>.xml, one file per set, with its run record beside
   it. The place is two digits computed from the name. Definitions that people put into the namespace's folder are moved
   to their places. engine/pla/store/store.c describes the layout and the recovery.

   Definitions are opened for a caller, who is checked against the set's Security: SET_ACCESS_REFUSED. Run records
   belong to the program itself. */
#ifndef OPENPLA_STORE_H
#define OPENPLA_STORE_H

#include "engine/base/process.h"
#include "engine/base/security.h"
#include "engine/base/text.h"

#include <stdbool.h>

/* ---- access check ---- */

/* The only place that decides whether a caller may perform a verb on a set. It gets the stored descriptor, under the
   lock of the store, before the verb has any effect. MS-PLA 3.2.1, 3.2.4.1 (Security); behaviour 5. */

enum set_access_verb {
#define SET_ACCESS(verb, text, set_rights, session_rights, administrators) SET_ACCESS_##verb,
#include "engine/pla/store/access_verbs.def"
#undef SET_ACCESS
    SET_ACCESS_CREATE, /* a new set: administrators and Performance Log Users */
    SET_ACCESS_VERBS
};

/* Access denied, with a message for the caller. Not E_ACCESSDENIED, which an unreadable file may also return;
   clients get that instead (engine/pla/definition.h). */
#define SET_ACCESS_REFUSED ((HRESULT)0xA0300011)

/* The object of an access check. */
struct set_access_object {
    const char *space, *name;
    const char *security; /* as stored, "" for the default; NULL: unreadable, so only administrators have access */
    bool session;         /* a trace session, or a set that starts one */
};
/* S_OK, SET_ACCESS_REFUSED, E_OUTOFMEMORY. */
HRESULT set_access_check(const struct access_subject *who, enum set_access_verb verb,
                         const struct set_access_object *set);
/* Checks replacing the set's definition by one with `security`. A caller who may change Security needs no right to
   change the set if the new Security grants it. */
HRESULT set_access_check_change(const struct access_subject *who, const struct set_access_object *set,
                                const char *security);
/* Checks creating a set. Sets that start with the system (`boot`) are for administrators. */
HRESULT set_access_check_create(const struct access_subject *who, const struct set_access_object *set, bool boot);
/* set_access_check for a single check of a caller; always S_OK for this process itself. */
HRESULT set_access_check_caller(const struct caller *caller, enum set_access_verb verb,
                                const struct set_access_object *set);

/* The descriptor to use for a stored string: "" is the default. */
const char *set_access_security(const char *security);
/* The Security of a set that a non-administrator creates without one: full access for that account. From
   memory_alloc. */
char *set_access_creator_security(const char *sid);

/* ---- definitions, runs and their files ---- */

/* Splits "[Namespace\]Name" (MS-PLA; behaviour 4); the default namespace is "Service". Checks the name by DECISIONS
   15: E_INVALIDARG, showing the name, for an empty name, / : * ? " < > |, control characters or another backslash;
   E_NOINTERFACE for an unknown namespace. *space is static and in canonical spelling; *name is from memory_alloc in
   the caller's spelling. */
HRESULT store_split_name(const char *full, const char **space, char **name);
/* Further rules for new names: at most STORE_NAME_MAX UTF-16 units, the limit of a host's command line and of ETW
   session names, and no bidirectional control characters. E_INVALIDARG. Existing sets, such as sessions of other
   programs, can be queried and deleted by any name. */
#define STORE_NAME_MAX 1024
HRESULT store_check_new_name(const char *name);

/* A safe, case-folded, reversible file name for a set: reserved device names, trailing dots and blanks, and bytes
   that some file systems reject are escaped as %XX. From memory_alloc. */
char *store_file_name(const char *name);

enum store_mode { STORE_CREATE, STORE_MODIFY, STORE_CREATE_OR_MODIFY };
struct run_record;
/* A change of a run record. `change` may return S_FALSE: nothing to save. It is called again with what another
   process wrote in between, and must not call the store. */
struct run_change {
    HRESULT (*change)(struct run_record *record, const void *user);
    const void *user;
};
/* Writes the set's XML (UTF-8), then applies the change to the run record; `change` may be NULL.
   PLA_E_DCS_ALREADY_EXISTS or PLA_E_DCS_NOT_FOUND by mode; HRESULT of ERROR_NOT_ENOUGH_QUOTA (owner_quota_check).
   Files are replaced as a whole; writers of all processes are serialized. *created: whether the set is new; may be
   NULL. */
HRESULT store_save(const struct caller *caller, const char *space, const char *name, enum store_mode mode,
                   const char *xml, size_t size, const struct run_change *change, bool *created);
/* A set's XML, and the Security in it if the caller knows it; NULL: it is read from the XML. */
struct written_set {
    const char *xml, *security;
    size_t size;
};
/* store_save for XML that was just written, which need not be parsed then. */
HRESULT store_save_written(const struct caller *caller, const char *space, const char *name, enum store_mode mode,
                           const struct written_set *set, const struct run_change *change, bool *created);
/* PLA_E_DCS_NOT_FOUND. *xml from memory_alloc. */
HRESULT store_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size);
/* The same without the access check, and only its last bytes, among them the account line; what is before that is the
   end of the XML. */
HRESULT store_load_lines(const char *space, const char *name, char **lines, size_t *size);
/* Whether the caller may perform the verb on the stored set. PLA_E_DCS_NOT_FOUND. */
HRESULT store_check_access(const struct caller *caller, enum set_access_verb verb, const char *space, const char *name);
struct stored_set;
/* The set as it is stored, for the checks before a verb that changes it; without an access check. Its `security` is
   NULL if that is invalid, its `xml` if it cannot be read. S_FALSE: it does not exist. Free `out` always. */
HRESULT store_read_set(const char *space, const char *name, struct stored_set *out);
/* store_check_access for a set that store_read_set has read. NULL: it does not exist. */
HRESULT store_check_access_read(const struct caller *caller, enum set_access_verb verb, const char *space,
                                const char *name, const struct stored_set *set);
/* Removes definition and run record. PLA_E_DCS_NOT_FOUND. */
HRESULT store_delete(const struct caller *caller, const char *space, const char *name);
/* The names of the sets of a namespace, as they were committed. */
HRESULT store_list(const struct caller *caller, const char *space, struct texts *names);
/* Definitions in the namespace's folder that are ignored because they belong to an account that may not write here.
   Two strings each: file and reason. *out is empty on failure. */
HRESULT store_list_foreign(const char *space, struct texts *out);
/* A set of a list: name and XML, both from memory_alloc; the XML is NULL if it could not be read. */
struct stored_set {
    char *name, *xml;
    size_t size;
    char *security; /* from the line after the XML; NULL: use stored_set_security */
    char *file;     /* its file's name without .xml, by which lists are sorted */
    uint64_t stamp; /* of its file before it was read; 0: unknown */
    bool sound;     /* it can be read: its line says so, or store_note_sound was called for this file and stamp */
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
/* Shows whether a definition or its run record has changed, without reading them. */
struct stored_stamp {
    char *file; /* as in stored_set */
    uint64_t stamp;
    uint64_t of_file; /* of the definition alone */
    bool definition;  /* always true in a list */
    bool has_run;     /* it has been run: its run lock exists, held or not */
    bool has_record;  /* it has a run record */
};
struct stored_stamps {
    struct stored_stamp *items;
    size_t count, capacity;
};
/* All definitions of the namespace, sorted by file. Removes temporary files of killed writers. */
HRESULT store_list_stamps(const char *space, struct stored_stamps *out);
/* Reads the set of a stamp that was just listed. Free `out` also on failure. */
HRESULT store_read_in(const char *space, const struct stored_stamp *stamp, struct stored_set *out);
void stored_set_free(struct stored_set *set);
/* Turns this process's cache of definitions on or off. With it, a list opens a file again only if it has changed. */
void store_keep_definitions(bool keep);
/* Notes that the set's XML was read as a valid definition, so that later readers need not check it. */
void store_note_sound(const char *space, const struct stored_set *set);
/* The name that the set of that stamp was committed under; *name from memory_alloc. */
HRESULT store_name_in(const char *space, const struct stored_stamp *stamp, char **name);
void stored_stamps_free(struct stored_stamps *stamps);
/* For a definition that was moved to its place before its writer had finished: adds `name`, since the file name has
   lost its case. Only if the definition is complete and has no name. */
HRESULT store_complete_name(const char *space, const char *name);
/* A position in the changes of a namespace. Zero-initialise. */
struct store_mark {
    char first[64];
    size_t size;
    uint64_t left; /* hash of the names of definitions that could not be moved to their places; 0: none */
};
/* S_OK: *names are the sets saved, deleted or run since the mark, which is moved to now. S_FALSE: the mark is moved,
   but the changes are unknown; scan everything. */
HRESULT store_changes(const char *space, struct store_mark *mark, struct texts *names);
/* The known namespaces: static, terminated by NULL. */
const char *const *store_namespaces(void);

/* The record that runs leave behind; separate from the definition (DECISIONS 47). */
struct run_record {
    bool known;                /* false: the set has never run */
    uint32_t serial_number;    /* of the next run */
    char *latest_location;     /* output folder of the latest run */
    struct texts latest_files; /* latest output file of each collector, by index; "" for none */
    HRESULT last_result;       /* of the latest start or run */
    char *last_message;        /* details of it: dropped counters, lost samples */
    bool running;              /* a run has begun and not ended normally: its host is running or has died */
    int64_t last_scheduled;    /* FILETIME UTC of the latest scheduled start; 0: none */
};
HRESULT store_load_run(const char *space, const char *name,
                       struct run_record *out); /* S_OK, with known false, if there is no record */
/* Loads the record, applies the change, and saves it. If another process saved the record in between, applies the
   change to that one, so that nothing is lost. Does not hold the lock while data go to the disk. */
HRESULT store_update_run(const char *space, const char *name, const struct run_change *change);
/* Marks the record's run as ended, in place: the rest stays, and no disk space is required. S_FALSE: already marked,
   or no record. */
HRESULT store_mark_ended(const char *space, const char *name);
/* Replaces an owned string of a record; unchanged when out of memory. */
HRESULT run_record_set_text(char **field, const char *value);
void run_record_free(struct run_record *record);

/* Folder of a namespace, which may not exist yet. From memory_alloc, NULL when out of memory. */
char *store_folder(const char *space);
/* Path of the set's definition, for messages. From memory_alloc, NULL when out of memory. */
char *store_definition_path(const char *space, const char *name);
/* Path of the lock file that a run holds for its whole life. From memory_alloc. */
char *store_run_lock_path(const char *space, const char *name);
/* Path of the lock file that a retention pass holds. From memory_alloc. */
char *store_pass_lock_path(const char *space, const char *name);

/* The host process of a set's run, as it has registered itself. Only the holder of the run lock writes it, and it
   contains nothing that others can compute. */
struct run_host {
    uint32_t process_id;
    uint64_t process_start; /* process_start_time */
    char key[33];           /* random hexadecimal digits, part of the names of its shared objects */
    char owner[192];        /* section_owner of its section; a SID has up to 184 characters */
};
/* Lists the files (as in stored_set) of the namespace's sets that have registered a host process. The process may have
   exited since. Takes no lock. */
HRESULT store_list_hosts(const char *space, struct texts *files);
/* S_FALSE: no host process is registered, or not completely. Takes no lock and never blocks. */
HRESULT store_load_host(const char *space, const char *name, struct run_host *out);
/* Replaces the registration. HRESULTs such as ERROR_DISK_FULL's name the file. */
HRESULT store_save_host(const char *space, const char *name, const struct run_host *host);
void store_remove_host(const char *space, const char *name);

/* Before a set's host process runs under the account of that SID: allows it to write the files of a run, but not the
   definition. Windows only; elsewhere all processes have one account. */
HRESULT store_let_run(const char *space, const char *name, const char *sid);

/* The things that outlive the host process of a run if it is killed, one line each (engine/pla/run/member.h). Only the
   holder of the run lock writes it. S_FALSE, with *out empty: no list. */
HRESULT store_load_held(const char *space, const char *name, struct texts *out);
HRESULT store_save_held(const char *space, const char *name, const struct texts *lines);
void store_remove_held(const char *space, const char *name);

/* The folders that a set's runs have created, one line each in the order of the runs
   (engine/pla/retention/folder_record.h). Deleted with the set. S_FALSE, with *out empty: no list. */
HRESULT store_load_folders(const char *space, const char *name, struct texts *out);
/* `change` may return S_FALSE: nothing to save. Called under the namespace's lock; it must not call the store. An
   invalid list is replaced by a new one. */
struct folders_change {
    HRESULT (*change)(struct texts *lines, void *user);
    void *user;
};
HRESULT store_change_folders(const char *space, const char *name, const struct folders_change *change);

/* ---- names of sets and of files ---- */

/* The namespace that `space` names in any case, static; E_NOINTERFACE with a message if unknown. */
HRESULT store_find_namespace(const char *space, const char **known);
/* The folded name that store_file_name turned into `file`; for a shortened name, the file name. From memory_alloc,
   NULL when out of memory. */
char *store_name_of_file(const char *file);

/* ---- lines after the XML: name and owner ---- */

/* One processing instruction contains the name as it was committed (the file name does not preserve its case) and the
   account that created the set. */

#define DEFINITION_MAX   ((16u << 20) + 4096) /* bytes of a file; longer XML is rejected */
#define STORED_LINE_MAX  4096                 /* largest size of the instruction in bytes */
#define STORED_LINES_MAX 8192                 /* of all the instructions after the XML */
#define STORED_OWNER_MAX 600                  /* bytes; Windows' domain and user names have up to 256 characters each */

/* owner "": nobody */
void stored_name_add(struct text_buffer *content, const char *name, const char *owner);
/* Whether an account name can be stored there. */
bool stored_owner_fits(const char *owner);
/* Cuts the instruction off the end of the text; returns the name in it, terminated, or NULL. */
char *stored_name_cut(char *xml, size_t *size);
/* stored_name_cut that also returns the owner: terminated and never NULL, "" for nobody. */
char *stored_line_cut(char *xml, size_t *size, const char **owner);

/* ---- lines after the XML: account and secret ---- */

/* One processing instruction contains the account that the set runs as and the key of its secret. It precedes the line
   of the Security. */

/* The account of a stored definition. Zero-initialise. */
struct set_account {
    char *user;                      /* "": the service's account, LocalSystem */
    char key[SHARED_KEY_DIGITS + 1]; /* key of the set's secret; "": none */
};
/* Reads the line, which must be the last one of the XML; a definition without one is valid. E_OUTOFMEMORY. */
HRESULT set_account_read(const char *xml, size_t size, struct set_account *out);
void set_account_free(struct set_account *a);
/* Appends the line to the XML (from memory_alloc) unless it would be empty. On failure the XML is unchanged. */
HRESULT set_account_add(const struct set_account *a, char **xml, size_t *size);
/* Adds everything that looks like a secret's key in such a line, anywhere in the text, so that no key is missed in a
   corrupt file. E_OUTOFMEMORY. */
HRESULT set_account_find_keys(const char *text, size_t size, struct texts *keys);

/* ---- sets of the namespace System ---- */

/* The program contains their definitions; the store has only the files of their runs. */

#define SYSTEM_SPACE "System"

struct system_set {
    const char *name, *xml;
};
/* Compiled from engine/pla/store/system_sets/; terminated by NULL. */
extern const struct system_set system_sets[];

/* NULL: not a System set. Ignores case. */
const struct system_set *system_set_find(const char *name);
/* Whether the name belongs to a System set in that namespace. */
bool system_set_is_one(const char *space, const char *name);

/* ---- checking and repairing the files ---- */

/* For each fault: a word for programs, and its meaning. */
#define STORE_FAULTS(X)                                                                                                \
    X(TORN, "torn", "left by a program that ended while writing; nothing in it was committed")                         \
    X(UNUSABLE, "unusable", "not a usable definition")                                                                 \
    X(MISPLACED, "misplaced", "not at the place of a set of this name")                                                \
    X(TWICE, "twice", "second file of a set")                                                                          \
    X(ORPHAN, "orphan", "its set does not exist")                                                                      \
    X(DAMAGED, "damaged", "cannot be read")                                                                            \
    X(LINK, "link", "a link instead of a file or folder of the store")                                                 \
    X(FOREIGN, "foreign", "owned by another account, which could change it")                                           \
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
    const char *detail; /* in addition to the fault's meaning; "" */
    /* S_FALSE: no repair was requested, or only the user can repair it. Failure: the repair failed, with the reason
       as the thread's error text. S_OK: repaired; `to` is the file's new path, "" if it was removed or changed in
       place. */
    HRESULT repaired;
    const char *to;
};
/* Checks all namespaces, each under its lock, and calls `each` for every finding; its failure ends the check.
   `repair`: repairs what can be repaired without loss. Unreadable files and files of no set are moved to the folder
   `aside` of the data folder, except run records, which keep serial numbers from repeating. Definitions are never
   deleted. */
HRESULT store_check(bool repair, HRESULT (*each)(void *user, const struct store_finding *finding), void *user);

#endif
