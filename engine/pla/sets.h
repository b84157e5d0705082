/* SPDX-License-Identifier: MIT */
/* Sets as clients handle them: committed to the store, queried from it, started, stopped, deleted, listed; the data
   manager behind their runs; the supervisor of their schedules. Each verb gets the caller who asks for it. */
#ifndef OPENPLA_SETS_H
#define OPENPLA_SETS_H

#include "engine/base/security.h"
#include "engine/pla/model.h"

/* A set object that is bound to nothing yet and reads its live properties from the store and its host. `category` is
   the namespace that its class fixes (static text, as store_namespaces() spells it): names without one mean that, names
   with another one are E_NOINTERFACE, and the name of a server is returned and not used. NULL: the name says it, and a
   server that the verbs do not reach is refused. */
HRESULT sets_create(const char *category, struct object **out);
/* The same with verbs that go elsewhere. */
HRESULT sets_create_with(const struct set_verbs *verbs, const char *category, struct object **out);
extern const struct set_verbs sets_local_verbs; /* those of sets_create */
/* An empty collection of sets; with a category its sets_find lists that namespace. */
HRESULT sets_collection_create(const char *category, struct object **out);
HRESULT sets_collection_create_with(const struct set_verbs *verbs, const char *category, struct object **out);
enum sets_commit_mode { /* CommitMode, MS-PLA 2.2.2.3 */
                        SETS_CREATE_NEW = 0x0001,
                        SETS_MODIFY = 0x0002,
                        SETS_UPDATE_RUNNING = 0x0010,
                        SETS_FLUSH_TRACE = 0x0020,
                        SETS_VALIDATE_ONLY = 0x1000
};
/* Whether a commit in this mode stores what the object holds and binds the object to the name. plaValidateOnly does
   not, and plaFlushTrace by itself does not. */
bool sets_commit_binds(uint32_t mode);
/* MS-PLA 3.2.4.1.54. mode: CommitMode bits; 0 is taken as create or modify (behaviour 5). `issues` (a plaValidation
   map) receives what validation finds. On success the set is bound to namespace and server where the mode binds.
   E_INVALIDARG (name, mode, server of 1024 characters or more), PLA_E_DCS_NOT_FOUND, PLA_E_DCS_ALREADY_EXISTS,
   E_NOINTERFACE (another namespace than before or than the class's; Legacy, as there is nothing that keeps it),
   E_NOTIMPL (System: MS-PLA 3.2.1), PLA_E_DCS_SINGLETON_REQUIRED (Session and Autosession without exactly one trace
   collector), PLA_E_DCS_IN_USE (running, with neither plaUpdateRunningInstance nor plaFlushTrace). Text that is no
   counter path is an issue. The object is as it was on failure. */
HRESULT set_commit(struct object *set, const struct caller *caller, const char *name, const char *server, uint32_t mode,
                   struct object *issues);
/* MS-PLA 3.2.4.1.53: replaces what the set holds. PLA_E_DCS_NOT_FOUND, E_NOINTERFACE. What is stored may be damaged:
   OPENPLA_E_MALFORMED_XML, ERROR_FILE_TOO_LARGE, E_ACCESSDENIED, with the file's name; a set that was bound to nothing
   is bound to that name then, so that it can be deleted. */
HRESULT set_query(struct object *set, const struct caller *caller, const char *name, const char *server);
/* MS-PLA 3.2.4.1.55-57. PLA_E_DCS_NOT_FOUND when never committed (Start: E_INVALIDARG). System sets are not deleted
   (E_ACCESSDENIED), nor is a trace session that runs (PLA_E_DCS_IN_USE); Autosession is neither started
   nor stopped (E_NOTIMPL: MS-PLA 3.2.1). */
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
/* MS-PLA 3.2.4.2.24: the data manager of a committed set, by its stored definition, which need not have it enabled,
   with the right to start the set. Of `folder`, a name below RootPath or a path there, or of all that have logs with
   "". `errors` (a plaValidation map) gets an item for each folder that failed: its path, the HRESULT, why. Blocks.
   PLA_E_DCS_NOT_FOUND; E_INVALIDARG: steps that there are not, a folder that is not below RootPath;
   HRESULT of ERROR_PATH_NOT_FOUND: it is not there; of ERROR_NOT_SUPPORTED: none of the steps can be done. */
HRESULT set_manage(struct object *set, const struct caller *caller, uint32_t steps, const char *folder,
                   struct object *errors);
/* MS-PLA 3.2.4.1.60, and of a committed set the keys that settings.def has of its latest start or run, unless the set
   has a value of that name: scripts have no other way to learn which counters a set does not collect. */
HRESULT sets_get_value(struct object *set, const struct caller *caller, const char *key, char **value);
/* MS-PLA 3.2.4.1.52: UserAccount is `user`, or SYSTEM again for "", until the next Query (3.2.4.1.45). What the set is
   to run as Commit decides (engine/pla/set_credentials.h). E_INVALIDARG for what can be no account's name, and for a
   password without one. */
HRESULT sets_set_credentials(struct object *set, const struct caller *caller, const char *user, const char *password);
#define SETS_FILTER_NAME "openpla:" /* no filter of others begins so: no name has a colon */
/* MS-PLA 3.2.4.16.8: fills the collection with the committed sets that the filter names: NULL or "" all, "ns\*" a
   namespace, "ns\name" one. A collection with a category uses neither server nor filter: all of its namespace,
   unless the filter is SETS_FILTER_NAME and a pattern of names, which a client of our own passes on; then it is one
   for_facade.
   A set whose stored XML is damaged is passed over unless the filter names it; Query says what is wrong with it. So
   are Session and Autosession where tracing does not work, unless the filter names them.
   Replaces what it held; unchanged on failure. */
HRESULT sets_find(struct object *collection, const struct caller *caller, const char *server, const char *filter);

/* ---- for verbs ---- */

/* Nothing was put by SetCredentials. */
void set_forget_credentials(struct object *set);

/* Whether the name (NULL and "" too) is one of this machine. */
HRESULT sets_is_own_machine(const char *server, bool *out);
/* The set is bound to what it is given; *name and *server are exchanged for what it had. What was put of its live state
   is taken for known to where it is bound; sets_forget_latest says so to its collectors. */
void sets_bind(struct object *set, const char *space, char **name, char **server);
void sets_forget_latest(struct object *set);
/* A set that is bound to nothing is bound to the name, whose definition cannot be read for `why`; returns that. It
   holds what it held: all that can be done with it is to delete it, or to commit it over the damaged one. */
HRESULT sets_bind_damaged(struct object *set, const char *space, const char *name, const char *server, HRESULT why);
/* Binds a set that nobody else has yet; what it holds is read when somebody gets it (set_verbs.read_listed). */
HRESULT sets_bind_listed(struct object *set, const char *space, const char *name, const char *server);
/* What such a set is to hold: *fresh, bound as it is, for object_take_outstanding and its `listed`. */
HRESULT sets_read_listed(struct object *set, const char *xml, size_t size, const char *account, struct object **fresh);
/* Replaces what the set holds by the definition and binds it. `account` NULL: the default. */
HRESULT sets_fill(struct object *set, const char *xml, size_t size, const char *account, const char *space,
                  const char *name, const char *server);

/* ---- data manager: MS-PLA 3.2.4.2, 2.2.2.6; DECISIONS 94 ---- */

#define REPORT_TIMEOUT_USUAL 600 /* s */

struct ended_segment;
/* What a host does with a segment (run_compile): makes RuleTargetFileName in its folder, of the logs that are there or,
   in a folder that runs share, of this segment's alone. Tells of it by an event. A failure leaves the folder as it was.
   HRESULT of ERROR_TIMEOUT: it took longer than OpenPLA.ReportTimeout. S_FALSE: there are no logs. */
HRESULT data_manager_compile(const struct ended_segment *segment);
/* set_manage (sets.h) for the set that is stored here. SET_ACCESS_REFUSED. */
HRESULT data_manager_run(const struct caller *caller, const char *space, const char *name, uint32_t steps,
                         const char *folder, struct object *errors);

/* PlaDeleteReport: what runs have made in the folder of a run, of whichever set, and the folder itself unless something
   else is in it. PLA_E_DCS_IN_USE while the run goes on; folder_remove_marked's failures. */
HRESULT data_manager_delete_report(const char *folder);

/* ---- supervisor ---- */

/* The service starts sets when their schedules say so, notices hosts that die, starts again what was cut off, and stops
   what has expired. */

struct supervisor;
/* Begins on a thread of its own. Of several processes with one store one supervises; another takes over when that ends.
   `work` (may be NULL) is told, from that thread, whether there is something to do that no client waits for: an enabled
   schedule that has a start before it, a start that is pending, a definition that somebody is perhaps writing. */
HRESULT supervisor_start(void (*work)(void *user, bool any), void *user, struct supervisor **out);
/* Ends it; starts that are on their way are waited for. NULL is allowed. */
void supervisor_stop(struct supervisor *s);

#endif
