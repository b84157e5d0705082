/* SPDX-License-Identifier: MIT */
/* Where sets are kept: <data folder>/sets/<namespace>/<place>/<name>.xml, one file a set, with its run state beside it;
   the place is two digits that are computed from the name. A definition that somebody puts into the folder of the
   namespace is moved there.

   Definitions are opened for a caller, who is checked against the Security of each set: SET_ACCESS_REFUSED. The run
   record is the program's own. */
#ifndef OPENPLA_STORE_H
#define OPENPLA_STORE_H

#include "engine/base/process.h"
#include "engine/base/security.h"
#include "engine/base/text.h"

#include <stdbool.h>

/* ---- access check ---- */

/* The one place that decides whether a caller may do with a set what a verb does. It is called with the descriptor that
   is stored, under the lock of the store, before there is any effect. MS-PLA 3.2.1, 3.2.4.1 (Security); behaviour 5. */

enum set_access_verb {
#define SET_ACCESS(verb, text, set_rights, session_rights, administrators) SET_ACCESS_##verb,
#include "engine/pla/store/access_verbs.def"
#undef SET_ACCESS
    SET_ACCESS_CREATE, /* there is no set yet: administrators and Performance Log Users */
    SET_ACCESS_VERBS
};

/* Refused, with a text for the caller. Not E_ACCESSDENIED, which a damaged file may answer with as well: clients get
   that instead (engine/pla/definition.h). */
#define SET_ACCESS_REFUSED ((HRESULT)0xA0300011)

/* What is asked about. */
struct set_access_object {
    const char *space, *name;
    const char *security; /* as it is stored, "" for the default; NULL: it cannot be told, and is administrators' */
    bool session;         /* a trace session, or what begins one */
};
/* S_OK, SET_ACCESS_REFUSED, E_OUTOFMEMORY. For what this process does for itself always S_OK. */
HRESULT set_access_check(const struct access_subject *who, enum set_access_verb verb,
                         const struct set_access_object *set);
/* The same for a definition that takes the place of the set's, and says `security`. Who may put Security needs no right
   to change the set, if the new one gives it to him. */
HRESULT set_access_check_change(const struct access_subject *who, const struct set_access_object *set,
                                const char *security);
/* For a new set. One that begins with the host (`boot`) is administrators' to make. */
HRESULT set_access_check_create(const struct access_subject *who, const struct set_access_object *set, bool boot);
/* The same for one question alone. */
HRESULT set_access_check_caller(const struct caller *caller, enum set_access_verb verb,
                                const struct set_access_object *set);

/* The descriptor that the text stands for: "" is the default. */
const char *set_access_security(const char *security);
/* That of a set that the account makes, who is no administrator, and which says no other: the account may do everything
   with it. From memory_alloc. */
char *set_access_creator_security(const char *sid);

/* ---- definitions, runs and their files ---- */

/* Splits "[Namespace\]Name" (MS-PLA; behaviour 4). No namespace: "Service". Checks the name by DECISIONS 15:
   E_INVALIDARG with a text that shows the name for an empty name, / : * ? " < > | controls, a further backslash;
   E_NOINTERFACE for an unknown namespace. *space is one of the known names in its own spelling, static; *name from
   memory_alloc in the caller's spelling. */
HRESULT store_split_name(const char *full, const char **space, char **name);
/* What a new set's name must be besides: at most STORE_NAME_MAX UTF-16 units, as the command line of its host and ETW's
   session names take, without bidirectional control characters. E_INVALIDARG. Sets that exist, such as sessions of
   other programs, can be queried and deleted by any name. */
#define STORE_NAME_MAX 1024
HRESULT store_check_new_name(const char *name);

/* A safe, case-folded, reversible file name for a set's name: reserved device names, trailing dots and blanks, and
   bytes that a file system may refuse are escaped as %XX. From memory_alloc. */
char *store_file_name(const char *name);

enum store_mode { STORE_CREATE, STORE_MODIFY, STORE_CREATE_OR_MODIFY };
struct run_record;
/* How a run record is changed. `change` may return S_FALSE: there is nothing to save. It is called again with what
   another has written meanwhile, and must not call the store. */
struct run_change {
    HRESULT (*change)(struct run_record *record, const void *user);
    const void *user;
};
/* Writes the set's XML (UTF-8), and then changes the run record; `change` may be NULL. PLA_E_DCS_ALREADY_EXISTS /
   PLA_E_DCS_NOT_FOUND by mode; HRESULT of ERROR_NOT_ENOUGH_QUOTA (owner_quota_check). Each file is replaced whole;
   writers of several processes follow one another. *created: whether it is a new set; may be NULL. */
HRESULT store_save(const struct caller *caller, const char *space, const char *name, enum store_mode mode,
                   const char *xml, size_t size, const struct run_change *change, bool *created);
/* PLA_E_DCS_NOT_FOUND when there is none. *xml from memory_alloc. */
HRESULT store_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size);
/* Whether the caller may do that with the set that is stored now. PLA_E_DCS_NOT_FOUND. */
HRESULT store_check_access(const struct caller *caller, enum set_access_verb verb, const char *space, const char *name);
/* Security of the set, NULL where it cannot be told; from memory_alloc. S_FALSE: there is no set. */
HRESULT store_security(const char *space, const char *name, char **security);
/* Removes definition and run state. PLA_E_DCS_NOT_FOUND. */
HRESULT store_delete(const struct caller *caller, const char *space, const char *name);
/* Names (as they were committed) of the sets of a namespace. */
HRESULT store_list(const struct caller *caller, const char *space, struct texts *names);
/* Definitions that others have put into the namespace's folder and that are not taken, as they belong to an account
   that does not write here: two texts for each, its file and why. *out is empty on failure. */
HRESULT store_list_foreign(const char *space, struct texts *out);
/* A set of a list: its name and its XML, NULL when it could not be read; both from memory_alloc. */
struct stored_set {
    char *name, *xml;
    size_t size;
    char *security; /* of the line behind the XML; NULL: the XML has to be asked (stored_set_security) */
    char *file;     /* name of its file without .xml, by which lists are in order */
    uint64_t stamp; /* of its file, before it was read; 0: not known */
    bool sound;     /* store_note_sound said so of this file and stamp */
};
struct stored_sets {
    struct stored_set *items;
    size_t count, capacity;
};
/* The sets whose names match the pattern (text_matches) and that the caller may read, in one pass over the namespace.
 * *out is empty on failure. */
HRESULT store_load_matching(const struct caller *caller, const char *space, const char *pattern,
                            struct stored_sets *out);
void stored_sets_free(struct stored_sets *sets);
/* What tells that a definition or its run record has changed, without a look into them. */
struct stored_stamp {
    char *file; /* as in stored_set */
    uint64_t stamp;
    uint64_t of_file; /* that of the definition alone */
    bool definition;  /* always true in a list */
    bool has_run;     /* it has been run: its run lock is there, held or not */
    bool has_record;  /* of its runs */
};
struct stored_stamps {
    struct stored_stamp *items;
    size_t count, capacity;
};
/* All definitions of the namespace, in the order of their files. Takes away what writers left that were killed. */
HRESULT store_list_stamps(const char *space, struct stored_stamps *out);
/* The set in that file, of which the stamp has just been listed. `out` is to be freed also on failure. */
HRESULT store_read_in(const char *space, const struct stored_stamp *stamp, struct stored_set *out);
void stored_set_free(struct stored_set *set);
/* From now on this process keeps the definitions that it reads for lists, and opens a file again when it has changed.
   false: it keeps none any more. */
void store_keep_definitions(bool keep);
/* A set as it was read: its XML is a definition that can be used, which whoever reads it next need not find out. */
void store_note_sound(const char *space, const struct stored_set *set);
/* The name that the set in that file was committed under; *name from memory_alloc. */
HRESULT store_name_in(const char *space, const struct stored_stamp *stamp, char **name);
void stored_stamps_free(struct stored_stamps *stamps);
/* Of a definition that was moved to its place before its writer was done: its file's name has lost the case of the
   set's. Puts `name` into it, if it is whole and says none. */
HRESULT store_complete_name(const char *space, const char *name);
/* How far the changes of a namespace are known. Zero-initialise. */
struct store_mark {
    char first[64];
    size_t size;
    uint64_t left; /* hash of the names of definitions that could not be moved to their places yet; 0: none */
};
/* S_OK: *names are those of the sets that were saved, deleted or run since the mark, and the mark is now. S_FALSE, the
   mark is now as well, but what has changed is not known: all is to be looked at. */
HRESULT store_changes(const char *space, struct store_mark *mark, struct texts *names);
/* Known namespaces, a NULL-terminated static list. */
const char *const *store_namespaces(void);

/* What runs leave behind; kept apart from the definition (DECISIONS 47). */
struct run_record {
    bool known;                /* false: the set has never run */
    uint32_t serial_number;    /* of the next run */
    char *latest_location;     /* folder of the latest run */
    struct texts latest_files; /* per collector, by index: its latest output file, "" if none */
    HRESULT last_result;       /* of the latest start or run */
    char *last_message;        /* what went with it: dropped counters, loss */
    bool running;              /* a run has begun and not ended in order: its host lives, or died */
    int64_t last_scheduled;    /* FILETIME UTC of the latest start that a schedule asked for; 0: none */
};
HRESULT store_load_run(const char *space, const char *name, struct run_record *out); /* none: S_OK, known false */
/* Loads the record, has it changed, and saves it unless it is another one by then: that one is changed, so that nothing
   that another process writes is lost. The lock is not held while the data go to the disk. */
HRESULT store_update_run(const char *space, const char *name, const struct run_change *change);
/* Says in the record that no run goes on, in place: all else in it stays, and no room on the disk is needed. S_FALSE:
   it says so already, or there is none. */
HRESULT store_mark_ended(const char *space, const char *name);
/* Replaces an owned text of a record; unchanged when memory is out. */
HRESULT run_record_set_text(char **field, const char *value);
void run_record_free(struct run_record *record);

/* Folder of a namespace, which need not be there yet. From memory_alloc, NULL when out of memory. */
char *store_folder(const char *space);
/* Path of the set's file, for messages. From memory_alloc, NULL when out of memory. */
char *store_definition_path(const char *space, const char *name);
/* Path of the lock file that a run holds for its whole life. From memory_alloc. */
char *store_run_lock_path(const char *space, const char *name);
/* Of the one that who goes over the folders of its runs holds meanwhile. From memory_alloc. */
char *store_pass_lock_path(const char *space, const char *name);

/* The host of a set's run as it has written itself down: only who holds the run lock writes it, and nothing that others
   can compute is in it. */
struct run_host {
    uint32_t process_id;
    uint64_t process_start; /* process_start_time */
    char key[33];           /* hexadecimal digits, random: the rest of the names of what it shares */
    char owner[192];        /* section_owner of its section: a SID has up to 184 characters */
};
/* S_FALSE: no host has written itself down, or not to the end. Takes no lock: never blocks. */
HRESULT store_load_host(const char *space, const char *name, struct run_host *out);
/* In place of what is there. ERROR_DISK_FULL's HRESULT and the like name the file. */
HRESULT store_save_host(const char *space, const char *name, const struct run_host *host);
void store_remove_host(const char *space, const char *name);

/* Before a host of the set runs under the account of that SID: it may write what a run writes beside the definition,
   and may not write the definition. On Windows alone; elsewhere all that runs has one account. */
HRESULT store_let_run(const char *space, const char *name, const char *sid);

/* What a run has made that outlives its host if that is killed, a line each (engine/pla/run/member.h). Only who holds
   the run lock writes it. S_FALSE, and *out empty: there is none. */
HRESULT store_load_held(const char *space, const char *name, struct texts *out);
HRESULT store_save_held(const char *space, const char *name, const struct texts *lines);
void store_remove_held(const char *space, const char *name);

/* The folders that a set's runs have made, a line each in the order of the runs (engine/pla/retention/folder_record.h);
   they go with the set. S_FALSE, and *out empty: none is known. */
HRESULT store_load_folders(const char *space, const char *name, struct texts *out);
/* `change` may return S_FALSE: there is nothing to save. Called under the namespace's lock: it must not call the store.
   What cannot be read as such a list begins anew. */
struct folders_change {
    HRESULT (*change)(struct texts *lines, void *user);
    void *user;
};
HRESULT store_change_folders(const char *space, const char *name, const struct folders_change *change);

/* ---- names of sets as names of files, and back ---- */

/* The known namespace that `space` means in any case, static; E_NOINTERFACE with an error text when there is none. */
HRESULT store_find_namespace(const char *space, const char **known);
/* The folded name that store_file_name made `file` of; a name that had to be shortened comes back as its file name.
   From memory_alloc, NULL when out of memory. */
char *store_name_of_file(const char *file);

/* ---- lines behind the XML: name and owner ---- */

/* One processing instruction holds the name as it was committed, as the name of the file has lost its case, and the
   account that created the set. */

#define DEFINITION_MAX   ((16u << 20) + 4096) /* bytes of a file; no longer XML is taken */
#define STORED_LINE_MAX  4096                 /* bytes that hold the instruction, whatever it says */
#define STORED_OWNER_MAX 600                  /* bytes; Windows' names of domain and user have 256 characters each */

/* owner "": nobody */
void stored_name_add(struct text_buffer *content, const char *name, const char *owner);
/* Whether an account's name can stand there. */
bool stored_owner_fits(const char *owner);
/* Cuts the instruction off the end of the text; returns where the name begins in it, terminated, or NULL. */
char *stored_name_cut(char *xml, size_t *size);
/* The same; *owner, terminated and never NULL, is whose the set is, "" for nobody's. */
char *stored_line_cut(char *xml, size_t *size, const char **owner);

/* ---- lines behind the XML: account and secret ---- */

/* One processing instruction holds the account that the set runs as and the key of its one secret. It stands before the
   line of the Security. */

/* What a stored definition says. Zero-initialise. */
struct set_account {
    char *user;                      /* "": the service's own, LocalSystem */
    char key[SHARED_KEY_DIGITS + 1]; /* of the set's secret; "": it has none */
};
/* Of the XML with that line as its last one; also of a definition that says nothing. E_OUTOFMEMORY. */
HRESULT set_account_read(const char *xml, size_t size, struct set_account *out);
void set_account_free(struct set_account *a);
/* Puts it behind the XML, from memory_alloc, unless there is nothing to say. On failure the XML is what it was. */
HRESULT set_account_add(const struct set_account *a, char **xml, size_t *size);
/* Adds what looks like a secret's key in such a line anywhere in the text: for who must not miss one, in a file that
   may be damaged. E_OUTOFMEMORY. */
HRESULT set_account_find_keys(const char *text, size_t size, struct texts *keys);

/* ---- sets of the namespace System ---- */

/* The program brings their definitions, so the store has no files of them but those of their runs. */

#define SYSTEM_SPACE "System"

struct system_set {
    const char *name, *xml;
};
/* engine/pla/store/system_sets/, made into a table by the build; NULL at the end. */
extern const struct system_set system_sets[];

/* NULL: there is no such set. The name's case does not matter. */
const struct system_set *system_set_find(const char *name);
/* Whether the program brings a set of that namespace and name. */
bool system_set_is_one(const char *space, const char *name);

/* ---- checking and repairing the files ---- */

/* A word for programs and what it means. */
#define STORE_FAULTS(X)                                                                                                \
    X(TORN, "torn", "a program that ended while it wrote left it; nothing in it was committed")                        \
    X(UNUSABLE, "unusable", "no definition that can be used")                                                          \
    X(MISPLACED, "misplaced", "not where a set of this name is looked for")                                            \
    X(TWICE, "twice", "a second file of a set")                                                                        \
    X(ORPHAN, "orphan", "of a set that is not there")                                                                  \
    X(DAMAGED, "damaged", "cannot be read")                                                                            \
    X(LINK, "link", "a link, no file or folder of the store's own")                                                    \
    X(FOREIGN, "foreign", "of another account, which could change it")                                                 \
    X(OPEN, "open", "others than its account, the system and administrators may look into it")                         \
    X(STRANGE, "strange", "nothing that the store makes")
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
    const char *detail; /* more than the fault's text; "" */
    /* S_FALSE: it was not asked for, or it is the user's to mend; a failure: it could not be, and why is the thread's
       error text; S_OK: it is mended, and `to` is where the file is now, "" if it is gone or changed in its place. */
    HRESULT repaired;
    const char *to;
};
/* Looks at all namespaces, each under its lock, and calls `each` for what is wrong; its failure ends the check. `mend`:
   what can be mended without losing anything is: what cannot be read, and what belongs to no set, goes to the folder
   `aside` of the data folder, but for a record of runs, which keeps a set's serial numbers from coming again; a
   definition is never deleted. */
HRESULT store_check(bool repair, HRESULT (*each)(void *user, const struct store_finding *finding), void *user);

#endif
