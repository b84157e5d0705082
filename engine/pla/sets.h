/* SPDX-License-Identifier: MIT */
/* The verbs that clients call on sets (commit, query, start, stop, delete, list), the data manager of their runs,
   and the supervisor of their schedules. Each verb gets its caller. */
#ifndef OPENPLA_SETS_H
#define OPENPLA_SETS_H

#include "engine/base/security.h"
#include "engine/pla/model.h"

/* Creates an unbound set object, which reads its live properties from the store and its host process. `category` is
   the namespace that its class fixes (static string, spelled as in store_namespaces()): names without a namespace
   belong to it, names with another one are E_NOINTERFACE, and the server is stored but not used. NULL: the name
   contains the namespace, and a server that the verbs cannot reach is rejected. */
HRESULT sets_create(const char *category, struct object **out);
/* sets_create with other verbs. */
HRESULT sets_create_with(const struct set_verbs *verbs, const char *category, struct object **out);
extern const struct set_verbs sets_local_verbs; /* the verbs of sets_create */
/* An empty collection of sets; with a category, sets_find lists that namespace. */
HRESULT sets_collection_create(const char *category, struct object **out);
HRESULT sets_collection_create_with(const struct set_verbs *verbs, const char *category, struct object **out);
enum sets_commit_mode { /* CommitMode, MS-PLA 2.2.2.3 */
                        SETS_CREATE_NEW = 0x0001,
                        SETS_MODIFY = 0x0002,
                        SETS_UPDATE_RUNNING = 0x0010,
                        SETS_FLUSH_TRACE = 0x0020,
                        SETS_VALIDATE_ONLY = 0x1000
};
/* Whether a commit in this mode stores the object and binds it to the name: not with plaValidateOnly, nor with
   plaFlushTrace alone. */
bool sets_commit_binds(uint32_t mode);
/* MS-PLA 3.2.4.1.54. mode: CommitMode bits; 0 means create or modify (behaviour 5). `issues` (a plaValidation map)
   receives the findings of validation. On success, the set is bound to namespace and server if the mode binds.
   E_INVALIDARG (name, mode, server of 1024 characters or more), PLA_E_DCS_NOT_FOUND, PLA_E_DCS_ALREADY_EXISTS,
   E_NOINTERFACE (another namespace than before or than the class's; Legacy, which nothing stores), E_NOTIMPL
   (System: MS-PLA 3.2.1), PLA_E_DCS_SINGLETON_REQUIRED (Session and Autosession without exactly one trace
   collector), PLA_E_DCS_IN_USE (running, with neither plaUpdateRunningInstance nor plaFlushTrace). An invalid
   counter path is an issue. The object is unchanged on failure. */
HRESULT set_commit(struct object *set, const struct caller *caller, const char *name, const char *server, uint32_t mode,
                   struct object *issues);
/* MS-PLA 3.2.4.1.53: replaces the object's contents. PLA_E_DCS_NOT_FOUND, E_NOINTERFACE. For a corrupt definition,
   with the file's name: OPENPLA_E_MALFORMED_XML, ERROR_FILE_TOO_LARGE, E_ACCESSDENIED; an unbound set is bound to
   the name anyway, so that it can be deleted. */
HRESULT set_query(struct object *set, const struct caller *caller, const char *name, const char *server);
/* MS-PLA 3.2.4.1.55 to 57. PLA_E_DCS_NOT_FOUND if never committed (Start: E_INVALIDARG). Delete fails for System
   sets (E_ACCESSDENIED) and running trace sessions (PLA_E_DCS_IN_USE). Start and Stop fail for Autosession
   (E_NOTIMPL: MS-PLA 3.2.1). */
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
/* MS-PLA 3.2.4.2.24: runs the data manager of a committed set, by its stored definition, even if that does not
   enable it. Requires the right to start the set. `folder`: a name below RootPath or a path there; "": all folders
   with logs. `errors` (a plaValidation map) gets an item for each folder that failed: path, HRESULT, reason. Blocks.
   PLA_E_DCS_NOT_FOUND; E_INVALIDARG: undefined steps, a folder outside RootPath; HRESULT of ERROR_PATH_NOT_FOUND: no
   such folder; of ERROR_NOT_SUPPORTED: none of the steps can be done. */
HRESULT set_manage(struct object *set, const struct caller *caller, uint32_t steps, const char *folder,
                   struct object *errors);
/* MS-PLA 3.2.4.1.60. For a committed set also the keys in settings.def about its latest start or run, unless the set
   has a value of that name. Scripts have no other way to learn which counters a set does not collect. */
HRESULT sets_get_value(struct object *set, const struct caller *caller, const char *key, char **value);
/* MS-PLA 3.2.4.1.52: UserAccount becomes `user`, or SYSTEM for "", until the next Query (3.2.4.1.45). Commit determines
   the account that the set runs as (engine/pla/set_credentials.h). E_INVALIDARG for an invalid account name and for a
   password without a name. */
HRESULT sets_set_credentials(struct object *set, const struct caller *caller, const char *user, const char *password);
#define SETS_FILTER_NAME "openpla:" /* cannot be a client's filter: names contain no colon */
/* MS-PLA 3.2.4.16.8: fills the collection with the committed sets that the filter matches: NULL or "" all, "ns\*" a
   namespace, "ns\name" one set. A collection with a category ignores server and filter and lists its namespace, unless
   the filter is SETS_FILTER_NAME followed by a name pattern, as OpenPLA's client sends it. The contents of a listed set
   are read by object_complete, which whoever uses more than its name and status calls first.

   Sets with corrupt XML are skipped unless the filter names them; Query reports the error. The same holds for
   Session and Autosession if tracing does not work. Replaces the collection's contents; unchanged on failure. */
HRESULT sets_find(struct object *collection, const struct caller *caller, const char *server, const char *filter);

struct set_status {
    uint32_t status;
    bool is_known; /* false: get the set's Status, which reports why */
};
/* The Status of each set; for many sets far cheaper than to get each one. E_OUTOFMEMORY. */
HRESULT sets_read_statuses(struct object *const *sets, size_t count, struct set_status *out);

/* ---- helpers for verbs ---- */

/* Clears what SetCredentials put. */
void set_forget_credentials(struct object *set);

/* Whether the name means this computer, as NULL and "" do. */
HRESULT sets_is_own_machine(const char *server, bool *out);
/* Binds the set; *name and *server are exchanged for its previous ones. Live values that were set now count as stored;
   sets_forget_latest tells the collectors. */
void sets_bind(struct object *set, const char *space, char **name, char **server);
void sets_forget_latest(struct object *set);
/* Binds an unbound set to a name whose definition cannot be read because of `why`, and returns `why`. The contents
   are unchanged: the set can only be deleted or committed over the corrupt definition. */
HRESULT sets_bind_damaged(struct object *set, const char *space, const char *name, const char *server, HRESULT why);
/* Binds a set that no other thread uses yet; its contents are read on first use (set_verbs.read_listed). */
HRESULT sets_bind_listed(struct object *set, const char *space, const char *name, const char *server);
/* Reads the contents of such a set into *fresh, bound likewise, for object_take_outstanding with `listed`. */
HRESULT sets_read_listed(struct object *set, const char *xml, size_t size, const char *account, struct object **fresh);
/* Replaces the set's contents by the definition and binds it. `account` NULL: the default. */
HRESULT sets_fill(struct object *set, const char *xml, size_t size, const char *account, const char *space,
                  const char *name, const char *server);

/* The files of the latest run that a set's XML names, in the order of its collectors. */
HRESULT sets_files_of_xml(const char *xml, struct texts *out);
/* The string from which names of the set's folders are derived; from memory_alloc, NULL when out of memory. */
char *sets_folder_key(struct object *set);

/* ---- data manager: MS-PLA 3.2.4.2, 2.2.2.6; DECISIONS 94 ---- */

#define REPORT_TIMEOUT_USUAL 600 /* seconds */

struct ended_segment;
/* Processes an ended segment in the host process (run_compile): creates RuleTargetFileName in the segment's folder
   from the logs there or, in a folder that runs share, from those of this segment. Writes an event. On failure the
   folder is unchanged. HRESULT of ERROR_TIMEOUT: it took longer than OpenPLA.ReportTimeout. S_FALSE: there are no
   logs. */
HRESULT data_manager_compile(const struct ended_segment *segment);
/* set_manage for a set of the local store. SET_ACCESS_REFUSED. */
HRESULT data_manager_run(const struct caller *caller, const char *space, const char *name, uint32_t steps,
                         const char *folder, struct object *errors);

/* PlaDeleteReport: deletes the files that runs of any set created in the folder, and the folder itself if it is empty
   then. PLA_E_DCS_IN_USE during the run; the failures of folder_remove_marked. */
HRESULT data_manager_delete_report(const char *folder);

/* ---- supervisor ---- */

/* The service starts sets by their schedules, detects host processes that died, restarts interrupted runs, and stops
   expired ones. engine/pla/sets/supervisor.c describes how. */

struct supervisor;
/* Starts the supervisor's thread. If several processes use one store, only one of them supervises; another takes over
   when it exits. `work` (may be NULL) is called from that thread and reports whether there is work that no client waits
   for: an enabled schedule with a future start, a pending start, or a definition that may still be being written. */
HRESULT supervisor_start(void (*work)(void *user, bool any), void *user, struct supervisor **out);
/* Stops it and waits for starts in progress. NULL is allowed. */
void supervisor_stop(struct supervisor *s);

#endif
