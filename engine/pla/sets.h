/* SPDX-License-Identifier: MIT */
/* The verbs that clients call on sets (commit, query, start, stop, delete, list), the data manager of their runs, and
   the supervisor of their schedules. Each verb takes its caller as an argument. */
#ifndef OPENPLA_SETS_H
#define OPENPLA_SETS_H

#include "engine/base/security.h"
#include "engine/pla/model.h"

/* Creates an unbound set object, which reads its live properties from the store and its host process. `category` is the
   fixed namespace of the set's class (a static string, spelled as in store_namespaces()). A name without a namespace
   belongs to this namespace; a name with another namespace fails with E_NOINTERFACE. The server is stored but not used.
   `category` NULL: the name contains the namespace, and a server that the verbs cannot reach is rejected. */
HRESULT sets_create(const char *category, struct object **out);
/* Works like sets_create, but the set uses `verbs`. */
HRESULT sets_create_with(const struct set_verbs *verbs, const char *category, struct object **out);
extern const struct set_verbs sets_local_verbs; /* the verbs of sets_create */
/* Creates an empty collection of sets. With a category, sets_find lists only that namespace. */
HRESULT sets_collection_create(const char *category, struct object **out);
HRESULT sets_collection_create_with(const struct set_verbs *verbs, const char *category, struct object **out);
enum sets_commit_mode { /* CommitMode, MS-PLA 2.2.2.3 */
                        SETS_CREATE_NEW = 0x0001,
                        SETS_MODIFY = 0x0002,
                        SETS_UPDATE_RUNNING = 0x0010,
                        SETS_FLUSH_TRACE = 0x0020,
                        SETS_VALIDATE_ONLY = 0x1000
};
/* Returns whether a commit in this mode stores the object and binds it to the name: false for plaValidateOnly, and for
   plaFlushTrace alone. */
bool sets_commit_binds(uint32_t mode);
/* MS-PLA 3.2.4.1.54. mode: CommitMode bits; 0 means create or modify (behaviour 5). `issues` (a plaValidation map)
   receives the findings of validation. On success, the set is bound to the namespace, name and server if the mode binds
   (sets_commit_binds). Errors: E_INVALIDARG (name, mode, server of 1024 characters or more), PLA_E_DCS_NOT_FOUND,
   PLA_E_DCS_ALREADY_EXISTS, E_NOINTERFACE (a namespace other than the set's previous one or the class's, or Legacy,
   which cannot be stored), E_NOTIMPL (System: MS-PLA 3.2.1), PLA_E_DCS_SINGLETON_REQUIRED (Session and Autosession
   without exactly one trace collector), PLA_E_DCS_IN_USE (running, with neither plaUpdateRunningInstance nor
   plaFlushTrace). An invalid counter path is an issue. The object is unchanged on failure. */
HRESULT set_commit(struct object *set, const struct caller *caller, const char *name, const char *server, uint32_t mode,
                   struct object *issues);
/* MS-PLA 3.2.4.1.53: replaces the object's contents. Fails with PLA_E_DCS_NOT_FOUND or E_NOINTERFACE, or with
   E_ACCESSDENIED if the caller may not read the set. If the definition is corrupt or unreadable, fails with
   OPENPLA_E_MALFORMED_XML, ERROR_FILE_TOO_LARGE or E_ACCESSDENIED, and the message names the file. Even so, an unbound
   set becomes bound to the name, so that it can be deleted. */
HRESULT set_query(struct object *set, const struct caller *caller, const char *name, const char *server);
/* MS-PLA 3.2.4.1.55 to 57. If the set was never committed or queried, Delete fails with PLA_E_DCS_NOT_FOUND, Start with
   E_INVALIDARG, and Stop with PLA_E_DCS_NOT_RUNNING. Delete fails for System sets (E_ACCESSDENIED) and running trace
   sessions (PLA_E_DCS_IN_USE). Start and Stop fail for Autosession (E_NOTIMPL: MS-PLA 3.2.1). */
HRESULT set_delete(struct object *set, const struct caller *caller);
HRESULT set_start(struct object *set, const struct caller *caller, bool synchronous);
HRESULT set_stop(struct object *set, const struct caller *caller, bool synchronous);
enum data_manager_step { /* DataManagerSteps, MS-PLA 2.2.2.6 */
                         STEP_CREATE_REPORT = 0x01,
                         STEP_RUN_RULES = 0x02,
                         STEP_CREATE_HTML = 0x04,
                         STEP_FOLDER_ACTIONS = 0x08,
                         STEP_RESOURCE_FREEING = 0x10,
                         DATA_MANAGER_STEPS = 0x1F
};
/* MS-PLA 3.2.4.2.24: runs the data manager of a committed set as its stored definition specifies, even if the
   definition does not enable it. Requires the right to start the set. `folder`: a name or a path below RootPath; "":
   all folders with logs. Adds an item to `errors` (a plaValidation map) for each folder that failed: the path, the
   HRESULT and the reason. Blocks. PLA_E_DCS_NOT_FOUND; E_INVALIDARG: `steps` has undefined bits, or the folder is
   outside RootPath; E_NOTIMPL: the set is a trace session; HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND): the folder does
   not exist; HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED): the set runs under a separate account. */
HRESULT set_manage(struct object *set, const struct caller *caller, uint32_t steps, const char *folder,
                   struct object *errors);
/* MS-PLA 3.2.4.1.60: returns a value of the set. For a committed set, also returns the values in settings.def about the
   latest start or run, unless the set has a value with the same name. Scripts have no other way to find out which
   counters a set does not collect. */
HRESULT sets_get_value(struct object *set, const struct caller *caller, const char *key, char **value);
/* MS-PLA 3.2.4.1.52: sets UserAccount to `user`, or to SYSTEM for "", until the next Query (3.2.4.1.45). Commit
   determines the account that the set runs as (engine/pla/set_credentials.h). E_INVALIDARG for an invalid account name
   and for a password without a name. */
HRESULT sets_set_credentials(struct object *set, const struct caller *caller, const char *user, const char *password);
#define SETS_FILTER_NAME "openpla:" /* cannot be a client's filter: names contain no colon */
/* MS-PLA 3.2.4.16.8: fills the collection with the committed sets that the filter matches. NULL and "" match all sets,
   "ns\*" those of a namespace, "ns\name" one set. A collection with a category ignores server and filter and lists its
   namespace, unless the filter is SETS_FILTER_NAME followed by a name pattern, as OpenPLA's client sends it. The
   contents of a listed set are not read yet: call object_complete before using more than its name and status.

   Sets with corrupt XML are skipped unless the filter names them; Query reports the error. If tracing does not work,
   Session and Autosession are skipped unless the filter names them. Replaces the collection's contents, which are
   unchanged on failure. */
HRESULT sets_find(struct object *collection, const struct caller *caller, const char *server, const char *filter);

struct set_status {
    uint32_t status;
    bool is_known; /* false: `status` could not be read; getting the property Status returns the error */
};
/* Reads the Status of each set. For many sets this is much faster than getting each property. E_OUTOFMEMORY. */
HRESULT sets_read_statuses(struct object *const *sets, size_t count, struct set_status *out);

/* ---- helpers for verbs ---- */

/* Clears the values from SetCredentials. */
void set_forget_credentials(struct object *set);

/* Determines whether the name refers to this computer, as NULL and "" do. */
HRESULT sets_is_own_machine(const char *server, bool *out);
/* Binds the set to the namespace, *name and *server. Takes ownership of the two strings, and returns the set's previous
   strings in *name and *server for the caller to free. From now on, live values of the set that a client has written
   count as stored. sets_forget_latest does the same for the set's collectors. */
void sets_bind(struct object *set, const char *space, char **name, char **server);
void sets_forget_latest(struct object *set);
/* Binds an unbound set to a name whose definition cannot be read because of `why`, and returns `why`. The contents
   are unchanged: the set can only be deleted or committed over the corrupt definition. */
HRESULT sets_bind_damaged(struct object *set, const char *space, const char *name, const char *server, HRESULT why);
/* Binds a set that no other thread uses yet; its contents are read on first use (set_verbs.read_listed). */
HRESULT sets_bind_listed(struct object *set, const char *space, const char *name, const char *server);
/* Reads the contents of a listed set into a new set, *fresh, with the same binding. Pass it to object_take_outstanding
   with the set's `listed`. */
HRESULT sets_read_listed(struct object *set, const char *xml, size_t size, const char *account, struct object **fresh);
/* Replaces the set's contents with the definition, and binds the set. `account`: value for UserAccount; NULL: its
   default. */
HRESULT sets_fill(struct object *set, const char *xml, size_t size, const char *account, const char *space,
                  const char *name, const char *server);

/* Reads the files of the latest run from a set's XML, in the order of its collectors. */
HRESULT sets_files_of_xml(const char *xml, struct texts *out);
/* Returns a string that combines the properties which determine the set's run folders, to detect whether they changed.
   From memory_alloc; NULL when out of memory. */
char *sets_folder_key(struct object *set);

/* ---- data manager: MS-PLA 3.2.4.2, 2.2.2.6; DECISIONS 94 ---- */

#define REPORT_TIMEOUT_USUAL 600 /* seconds */

struct ended_segment;
/* Processes an ended segment in the host process (run_compile): creates RuleTargetFileName in the segment's folder,
   from all logs in that folder or, if runs share the folder, from the logs of this segment. Writes an event. On failure
   the folder is unchanged. HRESULT_FROM_WIN32(ERROR_TIMEOUT): it took longer than OpenPLA.ReportTimeout. S_FALSE: there
   are no logs. */
HRESULT data_manager_compile(const struct ended_segment *segment);
/* Works like set_manage, for a set in the local store. Also fails with SET_ACCESS_REFUSED. */
HRESULT data_manager_run(const struct caller *caller, const char *space, const char *name, uint32_t steps,
                         const char *folder, struct object *errors);

/* Implements PlaDeleteReport: deletes the files that runs of any set created in the folder, and then the folder if it
   is empty. PLA_E_DCS_IN_USE: a run that writes to the folder is active. Fails as folder_remove_marked does. */
HRESULT data_manager_delete_report(const char *folder);

/* ---- supervisor ---- */

/* The service starts sets by their schedules, detects host processes that died, restarts interrupted runs, and stops
   expired ones. engine/pla/sets/supervisor.c describes how. */

struct supervisor;
/* Starts the supervisor's thread. If several processes use one store, only one process supervises; when this process
   exits, another process takes over. The thread calls `work`, which may be NULL, to report whether there is work that
   no client waits for: an enabled schedule with a future start, a pending start, or a definition that another process
   may still be writing. */
HRESULT supervisor_start(void (*work)(void *user, bool any), void *user, struct supervisor **out);
/* Stops the supervisor and waits for starts in progress. NULL is allowed. */
void supervisor_stop(struct supervisor *s);

#endif
