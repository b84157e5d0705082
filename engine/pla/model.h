/* SPDX-License-Identifier: MIT */
/* Data collector sets as objects: their classes, life cycle, properties, collections, validation and XML. Objects
   consist of property rows (engine/pla/model/property.h). This layer does not depend on COM; com/ wraps its objects. */
#ifndef OPENPLA_MODEL_H
#define OPENPLA_MODEL_H

#include "engine/base/quotas.h"
#include "engine/base/text.h"
#include "engine/pla/model/property.h"

#include <stdatomic.h>

struct validation;

/* Describes all objects of one class. */
struct class
{
    const char *name; /* also the name of its XML element */
    size_t size;
    const struct property *properties;
    size_t property_count;
    size_t items; /* offset of struct items in a collection; 0: the class is not a collection */
    const struct class *const *item_classes; /* classes that a collection accepts, terminated by NULL */
    bool adopts;                             /* the collection is the parent of its items, which share its lock */
    /* Checks a new item of a collection, for example that its name is unique. Called under the lock; may be NULL. */
    HRESULT (*admit)(struct object *collection, struct object *item);
    HRESULT (*created)(struct object *o); /* creates child objects; may be NULL */
    /* Reads the live state of the set that contains the object. A value that a client has written takes precedence.
       PLA_E_DCS_NOT_FOUND: the object does not belong to a set. May be NULL. */
    HRESULT (*read_live)(struct object *o, unsigned parts, struct set_live *out);
    /* Loads deferred contents that the row depends on; `p` NULL: all contents. Called without the lock; may be NULL. */
    HRESULT (*complete)(struct object *o, const struct property *p);
    const char *extension; /* extension of a collector's file, with the dot; used unless extension_of is set */
    const char *(*extension_of)(const struct object *o); /* called under the lock; may be NULL */
    /* Reports the errors that Commit finds in the object (engine/pla/model/validate.h). Called without the lock; `copy`
       is a private, consistent copy of its rows. Fails only for errors that make Commit fail. May be NULL. */
    HRESULT (*validate)(const struct validation *v, struct object *o, const struct object *copy);
    /* Hooks for the data of an object that are not in its property rows. They are called when an object is destroyed,
       when it is copied to another object, and when it exchanges its contents with another object. Each may be NULL. */
    void (*destroyed)(struct object *o);
    HRESULT (*copied)(const struct object *from, struct object *to);
    void (*exchanged)(struct object *a, struct object *b);
};

/* A reference-counted object. `wrapper` is its COM wrapper, created once and not counted. */
struct object {
    const struct class *class;
    atomic_uint references;
    atomic_uint lock;           /* index of the object's lock; all objects of a set share one lock (object_lock) */
    struct object *parent;      /* borrowed; cleared when the parent removes the object */
    void *wrapper;              /* borrowed */
    bool items_read;            /* in a draft: the items came from XML and replace the target's items (object_take) */
    uint64_t rows_put;          /* in a draft: the rows that were set, one bit each */
    uint64_t rows_chosen;       /* rows with an explicitly chosen value (object_row_is_chosen) */
    struct memory_share *share; /* a reference to the account that is charged for the object's memory; NULL: none */
    int64_t counted;            /* bytes charged to `share`; under the lock */
};

/* The items of a collection; each is a reference. */
struct items {
    struct object **list;
    size_t count, capacity;
};

/* Creates an object with default values and one reference. The object shares the lock of `beside` unless that is NULL.
   The memory is charged to the client that this thread serves; HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA) if its quota
   is exceeded. */
HRESULT object_create(const struct class *class, struct object *beside, struct object **out);
/* Checks whether the object may grow by `bytes` on behalf of the client that this thread serves.
   HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA): it may not. The memory is charged to the object's creator. */
HRESULT object_room(struct object *o, size_t bytes);
/* Charges `bytes` of memory that the object uses outside its property rows. A negative number cancels a charge. Call it
   under the lock. */
void object_count(struct object *o, int64_t bytes);
/* Calls object_room and then object_count; the charge lasts until the object is destroyed. */
HRESULT object_hold(struct object *o, size_t bytes);
/* Creates a child object for a field of `parent`; it shares the parent's lock. */
HRESULT object_create_child(struct object *parent, const struct class *class, struct object **field);
struct object *object_reference(struct object *o);
/* Takes a reference. False: the last reference has already been released. */
bool object_try_reference(struct object *o);
void object_release(struct object *o); /* NULL is allowed */

/* A set and all its children share one lock, assigned at creation. It is not recursive and is never held across a
   blocking call. */
void object_lock(struct object *o);
void object_unlock(struct object *o);

/* Reads a property; free *out with value_free. Fails with E_OUTOFMEMORY or the error of the row's hook. */
HRESULT object_get(struct object *o, const struct property *p, struct value *out);

/* Counts how often each object lock was entered and left; odd while the lock is held. Only object.c writes it. */
enum { OBJECT_LOCKS = 64 };
struct object_turns {
    _Alignas(64) atomic_uint count;
};
extern struct object_turns object_turns[OBJECT_LOCKS];

/* Fast path without a lock for numbers of up to 32 bits, whose fields are atomic (a bool reads as 0 or 1). False: the
   row is not such a number or has a hook, or the lock is held; use object_get. This needs no lock for the following
   reasons. If the count is even before the read and unchanged after it, no thread held the lock in between. A reader
   with the lock would therefore get the same value. Two reads see changes of several rows in the same order as under
   the lock. A writer stores an odd count before it stores the field. The field is stored with release order and loaded
   here with acquire order, so the value is never older than the count that is loaded after it. If the object gets
   another lock in the meantime, the count changes, because the caller of change_lock also holds the old lock. */
static inline bool object_get_number(const struct object *o, const struct property *p, uint32_t *out)
{
    enum {
        NUMBERS = 1 << PROPERTY_BOOL | 1 << PROPERTY_I32 | 1 << PROPERTY_U32 | 1 << PROPERTY_ENUM | 1 << PROPERTY_FLAGS
    };
    if (!(NUMBERS >> p->kind & 1) || p->get || p->get_live || p->put)
        return false;
    const unsigned index = atomic_load(&o->lock);
    const unsigned turns = atomic_load_explicit(&object_turns[index].count, memory_order_acquire);
    if (turns & 1 || atomic_load(&o->lock) != index)
        return false;
    const char *field = (const char *)o + p->offset;
    *out = p->kind == PROPERTY_BOOL
               ? atomic_load_explicit((const _Atomic bool *)field, memory_order_acquire)
               : atomic_load_explicit((const _Atomic uint32_t *)(const void *)field, memory_order_acquire);
    return atomic_load_explicit(&object_turns[index].count, memory_order_relaxed) == turns;
}

/* Works like object_get, but uses live state that the caller has read with object_read_live. For callers that read many
   properties. `live` NULL: the property is read without live state. */
HRESULT object_get_with(struct object *o, const struct property *p, const struct set_live *live, struct value *out);
/* Reads at least the requested parts (bits of enum set_live_part); free with set_live_free. S_FALSE: the class has no
   live state; PLA_E_DCS_NOT_FOUND: the object does not belong to a set. In both cases *out is empty. */
HRESULT object_read_live(struct object *o, unsigned parts, struct set_live *out);
/* Returns whether the row's value is that of its field and not the live value. The field's value is used if a client
   has written the field, or if the row has no live value. */
bool object_field_stands(struct object *o, const struct property *p);
/* Checks kind, range and the row's own rule, then replaces the field. E_INVALIDARG: the value is invalid; the message
   names the property and the value. The object is unchanged on failure. Read-only rows are accepted; the COM wrapper
   enforces access. */
HRESULT object_put(struct object *o, const struct property *p, const struct value *in);
/* Works like object_put, but takes ownership of the contents of *in and empties it; on failure the caller keeps
   them. */
HRESULT object_give(struct object *o, const struct property *p, struct value *in);
/* Returns the child object of a PROPERTY_OBJECT row; it is always the same object. NULL for other kinds. Borrowed. */
struct object *object_child(const struct object *o, const struct property *p);
/* Reads the field without calling the row's getter. */
HRESULT object_get_field(struct object *o, const struct property *p, struct value *out);
HRESULT object_put_default(struct object *o, const struct property *p);
/* Returns whether the row's value was chosen explicitly: a client set it, or the XML contained a value other than the
   default. A default value in XML is not a choice, because exports have an element for each row. A collection is chosen
   if it has items. */
bool object_row_is_chosen(struct object *o, const struct property *p);
/* Call after reading an object from XML. A row is no longer marked as chosen if it would have the same value without
   its XML element. */
HRESULT object_forget_defaults(struct object *o);
/* Works like object_give, but without checks; the value must have the row's kind. */
void object_give_unchecked(struct object *o, const struct property *p, struct value *in);
/* Sets a text property without its checks. */
HRESULT object_put_text(struct object *o, const struct property *p, const char *text);
const struct property *class_property(const struct class *class, const char *name);
/* Creates an object of the same class, with the same lock and values. Also copies the values of each child object
   whose row in the parent is XML_STORED. The new object's collections are empty. */
HRESULT object_copy(struct object *from, struct object **out);
/* Exchanges the property values, child values and items of two objects that have the same class and lock; child objects
   keep their identity. Without `all`, `from` is a draft, and object_take exchanges only the rows that were set in the
   draft. Values that another thread sets at the same time are kept. */
void object_take(struct object *o, struct object *from, bool all);
/* If *outstanding is set: calls object_take with `all` and clears *outstanding atomically. False: nothing was taken. */
bool object_take_outstanding(struct object *o, struct object *from, atomic_bool *outstanding);
/* Call class.complete for all rows, or for one row. */
HRESULT object_complete(struct object *o);
HRESULT object_complete_row(struct object *o, const struct property *p);

/* Collections. The index is zero-based; DISP_E_BADINDEX: out of range. */
size_t collection_count(struct object *collection);
HRESULT collection_item(struct object *collection, size_t index, struct object **out); /* a reference */
/* Adds a reference to the item. If the class of the collection has `adopts`, the collection becomes the item's parent.
   Applies the rules of the collection's class: for example, names are unique and a collector belongs to one set. */
HRESULT collection_add(struct object *collection, struct object *item);
bool collection_takes(const struct class *collection, const struct class *item);
HRESULT collection_remove(struct object *collection, size_t index);
HRESULT collection_remove_object(struct object *collection,
                                 struct object *item); /* E_INVALIDARG: the item is not in the collection */
void collection_clear(struct object *collection);
/* Exchanges the items of two collections that have the same class and lock. */
void collection_exchange(struct object *a, struct object *b);
/* Returns references to all current items; *list is from memory_alloc. */
HRESULT collection_snapshot(struct object *collection, struct object ***list, size_t *count);
void objects_release(struct object **list, size_t count); /* releases each and frees the list */

/* ---- the classes ---- */

/* Owner BA, group DU; full access for SY and BA, read and execute for Performance Log Users (behaviour 5). */
#define SET_DEFAULT_SECURITY "O:BAG:DUD:(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-32-559)"

struct user_value { /* a pair from SetValue */
    char *key, *value;
    bool document; /* the value is an XML fragment */
};
/* The live state of a bound set. */
struct set_live {
    uint32_t status, serial_number;
    char *latest_location; /* owned */
    struct texts latest_files;
    char *next_folder; /* owned; the next run's folder as the run's account sees it; NULL: compute it in this process */
};
enum set_live_part {
    SET_LIVE_STATUS = 1,
    SET_LIVE_SERIAL_NUMBER = 2,
    SET_LIVE_LOCATION = 4,
    SET_LIVE_FILES = 8,
    SET_LIVE_NEXT_FOLDER = 16
};

struct caller;
/* Implements the verbs of a set. The object's creator chooses one of three tables: sets_local_verbs for the engine in
   this process (engine/pla/sets/local_sets.c), facade_verbs for a server that COM reaches (com/facade/facade.c), or
   remote_sets_verbs for another computer's server (engine/pla/remote/remote_sets.c). `space` (a static string) and
   `name` are the namespace and name that the set is, or will be, bound to; `caller` is the client. Called without the
   lock. On failure the set is unchanged; on success it is bound or filled. */
struct set_verbs {
    /* Rejects a server that the verbs cannot reach. Not called for a set with a category, because such a set ignores
       the server. */
    HRESULT (*check_server)(const char *server);
    HRESULT(*commit)
    (struct object *set, const struct caller *caller, const char *space, const char *name, const char *server,
     uint32_t mode, struct object *issues);
    HRESULT(*query)
    (struct object *set, const struct caller *caller, const char *space, const char *name, const char *server);
    HRESULT (*delete)(struct object *set, const struct caller *caller, const char *space, const char *name);
    HRESULT(*start)
    (struct object *set, const struct caller *caller, const char *space, const char *name, bool synchronous);
    HRESULT(*stop)
    (struct object *set, const struct caller *caller, const char *space, const char *name, bool synchronous);
    /* The data manager's Run. `steps`: DataManagerSteps; `folder`: one folder, or "" for all folders; `errors`: as for
       set_manage. */
    HRESULT(*manage)
    (struct object *set, const struct caller *caller, const char *space, const char *name, uint32_t steps,
     const char *folder, struct object *errors);
    /* Reads at least the requested parts (bits of enum set_live_part). */
    HRESULT (*read_live)(struct object *set, const char *space, const char *name, unsigned parts, struct set_live *out);
    /* Reads a value of the latest run (engine/pla/sets/settings.def). */
    HRESULT(*get_run_value)
    (struct object *set, const struct caller *caller, const char *space, const char *name, const char *key,
     char **value);
    HRESULT (*set_credentials)(struct object *set, const struct caller *caller, const char *user, const char *password);
    /* Adds the sets of the namespace that match the pattern to the collection. */
    HRESULT(*list)
    (struct object *collection, const struct caller *caller, const char *space, const char *pattern,
     const char *server);
    /* Fills a set that `list` has only bound. Does nothing if the set is no longer `listed`. NULL: `list` fills all
       sets. */
    HRESULT (*read_listed)(struct object *set, const char *space, const char *name);
    void (*destroyed)(struct object *set); /* frees `peer`; may be NULL */
};

#define CLASS(model, I, base) extern const struct class model##_class;
#include "engine/pla/classes.def"
#undef CLASS

/* The members of a set in addition to its rows:
     space            namespace, set when Commit or Query binds the set, else NULL; static string
     category         namespace that the object's class fixes, else NULL; static string
     one_collector    the set is one trace session: Add rejects a second collector
     serial_put       SerialNumber was set, or read from XML, since the last Query (DECISIONS 13)
     latest_put       the same for LatestOutputLocation
     listed           the set came from a list: it is bound, and its contents are read on first use
     verbs            NULL: the set is an object without a store, and has no verbs
     credentials_put  SetCredentials was called since the last Query or Commit
     password         password of UserAccount, from SetCredentials; NULL: none, the set runs as LocalSystem
     peer             private data of the verbs, under the lock
     remote           private data of engine/pla/remote, under the lock; NULL: never bound to another computer */
#define MEMBERS                                                                                                        \
    struct user_value *values;                                                                                         \
    size_t value_count, value_capacity;                                                                                \
    const char *space, *category;                                                                                      \
    bool one_collector, serial_put, latest_put, credentials_put;                                                       \
    atomic_bool listed;                                                                                                \
    const struct set_verbs *verbs;                                                                                     \
    char *password;                                                                                                    \
    void *peer, *remote;
#define CLASS     data_collector_set
#define INTERFACE IDataCollectorSet
#define ROWS      "engine/pla/data_collector_set.def"
#include "engine/pla/model/class.inc"
void set_live_free(struct set_live *live);

struct collection {
    struct object object;
    struct items items;
};
struct data_collector_set_collection {
    struct object object;
    struct items items;
    const char *category; /* as in struct data_collector_set */
    const struct set_verbs *verbs;
};

/* The fields at the start of every collector's struct; collector_of() returns a pointer to them. */
struct data_collector {
    struct object object;
#define PROPERTY PROPERTY_FIELD
#include "engine/pla/data_collector.def"
#undef PROPERTY
};

#define CLASS     performance_counter_collector
#define INTERFACE IPerformanceCounterDataCollector
#define ROWS      "engine/pla/performance_counter_collector.def"
#include "engine/pla/model/class.inc"

#define CLASS     trace_data_collector
#define INTERFACE ITraceDataCollector
#define ROWS      "engine/pla/trace_data_collector.def"
#include "engine/pla/model/class.inc"

#define CLASS     configuration_collector
#define INTERFACE IConfigurationDataCollector
#define ROWS      "engine/pla/configuration_collector.def"
#include "engine/pla/model/class.inc"

#define CLASS     alert_collector
#define INTERFACE IAlertDataCollector
#define ROWS      "engine/pla/alert_collector.def"
#include "engine/pla/model/class.inc"

#define CLASS     api_tracing_collector
#define INTERFACE IApiTracingDataCollector
#define ROWS      "engine/pla/api_tracing_collector.def"
#include "engine/pla/model/class.inc"

#define CLASS     trace_data_provider
#define INTERFACE ITraceDataProvider
#define ROWS      "engine/pla/trace_data_provider.def"
#include "engine/pla/model/class.inc"

#define CLASS     set_schedule
#define INTERFACE ISchedule
#define ROWS      "engine/pla/schedule.def"
#include "engine/pla/model/class.inc"

#define CLASS     folder_action
#define INTERFACE IFolderAction
#define ROWS      "engine/pla/folder_action.def"
#include "engine/pla/model/class.inc"

#define CLASS     data_manager
#define INTERFACE IDataManager
#define ROWS      "engine/pla/data_manager.def"
#include "engine/pla/model/class.inc"

#define CLASS     value_map
#define INTERFACE IValueMap
#define ROWS      "engine/pla/value_map.def"
#define MEMBERS   struct items items;
#include "engine/pla/model/class.inc"

#define CLASS     value_map_item
#define INTERFACE IValueMapItem
#define ROWS      "engine/pla/value_map_item.def"
#include "engine/pla/model/class.inc"

struct data_collector_set *set_of(struct object *set);
/* Returns the class of a DataCollectorType; NULL: unknown. */
const struct class *collector_class(uint32_t data_collector_type);
struct data_collector *collector_of(struct object *collector);
/* Returns a reference to the data manager's set. PLA_E_DCS_NOT_FOUND: the set no longer exists. */
HRESULT data_manager_set(struct object *manager, struct object **set);
/* Returns a reference to the collector's set. PLA_E_DCS_NOT_FOUND: the collector does not belong to a set. */
HRESULT collector_set(struct object *collector, struct object **set);

/* Checks the value of an event provider's value map: Level must be 0 to TRACE_LEVEL_MAX, Properties must fit into 32
   bits. */
#define TRACE_LEVEL_MAX 255
HRESULT trace_provider_check_value(struct object *map, int64_t value);
/* value_map_get_value computes the map's value from its enabled items. value_map_put_value enables the items that form
   the value (MS-PLA 2.2.2.11; behaviour 17). */
HRESULT value_map_get_value(struct object *map, struct variant *out);
HRESULT value_map_put_value(struct object *map, const struct variant *in);
/* Copies item names and descriptions from `from`. The map's value does not change (MS-PLA 3.2.4.11.16). */
HRESULT value_map_resolve(struct object *map, struct object *from);
/* Returns the value of each enabled item; *values is from memory_alloc. */
HRESULT value_map_enabled(struct object *map, uint64_t **values, size_t *count);
/* Adds a value: an integer, or a string that is a number or the key of an item to enable (MS-PLA 3.2.4.18.10). */
HRESULT value_map_add_value(struct object *map, const struct variant *in);
/* Adds an item that is not enabled. */
HRESULT value_map_add_named(struct object *map, const char *key, const char *description, uint64_t value);

/* ---- issues: the findings that Commit and SetXml report ---- */
/* Creates a plaValidation map. */
HRESULT issues_create(struct object *beside, struct object **map);
/* Adds an item with a key (the property's path), the HRESULT as VT_UI4, and a message. If the map is NULL, the item is
   discarded. */
HRESULT issues_add(struct object *map, HRESULT hr, const char *key, const char *text);
/* Calls `each` for every issue until a call fails; the strings are borrowed. No other thread may use the map. */
HRESULT issues_each(struct object *map, HRESULT (*each)(void *user, HRESULT hr, const char *key, const char *text),
                    void *user);
/* Determines whether the map has an item with that key and result. No other thread may use the map. */
HRESULT issues_has(struct object *map, HRESULT hr, const char *key, bool *out);

/* ---- sets ---- */
HRESULT set_create(struct object **out);
/* Reads the Security of the set that the XML defines; *security is from memory_alloc. Also fails with
   OPENPLA_E_MALFORMED_XML if Security is not a valid descriptor. */
HRESULT set_security_of_xml(const char *xml, size_t size, char **security);
HRESULT set_put_value(struct object *set, const char *key, const char *value); /* value NULL: removes the key */
/* Works like set_put_value. `document`: the value is an XML fragment (<Value type="document">). */
HRESULT set_put_value_as(struct object *set, const char *key, const char *value, bool document);
HRESULT set_get_value(struct object *set, const char *key, char **value);
/* Adds the findings of validation to `issues`, a plaValidation map (MS-PLA 2.2.2.11). Fails only for errors that must
   make Commit fail. */
HRESULT set_validate(struct object *set, struct object *issues);
/* Maximum items of one class in a collection, and maximum values in a set. XML with more items or values is rejected.
   Sets on Windows have a few dozen. */
#define SET_ITEMS_MAX QUOTA_NUMBER_items
/* Fails with E_INVALIDARG if the set is too large to be read back from the store. */
HRESULT set_check_limits(struct object *set);

/* Returns RootPath, or its default if RootPath is empty. Variables are not expanded. Borrowed from the set. */
const char *set_root(const struct data_collector_set *set);
/* Returns whether a start creates a missing RootPath. A start creates RootPath only below %systemdrive%\PerfLogs, which
   published templates and Windows' wizard use. In other places, a mistyped path must not create folders. `root`
   contains no variables. */
bool set_creates_root(const char *root);
/* Compute the output folder of a run and the file of a collector, for the serial number and time in `context`. *out is
   from memory_alloc. E_INVALIDARG: the folder is not below RootPath, or the file is not below the folder. */
struct name_context;
HRESULT set_output_folder(struct object *set, const struct name_context *context, char **out);
HRESULT collector_output_file(struct object *collector, const char *folder, const struct name_context *context,
                              char **out);
/* Checks output names for Commit. E_INVALIDARG: Subdirectory, FileName or one of their patterns leads out of its folder
   (DECISIONS 36); the message names property and value. */
HRESULT set_check_output(struct object *set);
/* Creates the context of a run that starts now. Free it with name_context_free. */
HRESULT name_context_now(uint32_t serial_number, struct name_context *out);
void name_context_free(struct name_context *context);

/* ---- XML: parsing, defaults, validation, formatting (behaviour 18) ---- */
/* Reads set XML into `set`. Elements replace the set's values. For an invalid value, sets the default and adds an
   issue; for an unknown element, adds an issue. OPENPLA_E_MALFORMED_XML: the message contains line and reason, and the
   set is unchanged. */
HRESULT set_from_xml(struct object *set, const char *xml, size_t size, struct object *issues);
/* Works like set_from_xml, for the XML of a set in Session or Autosession. This process, or the server of another
   computer, wrote the XML from a trace session or an autologger. Also accepts the session's statistics. Accepts session
   names and sizes even if a client could not set them. */
HRESULT set_from_own_xml(struct object *set, const char *xml, size_t size);
/* Creates a set from the XML and discards the issues. *out is NULL on failure. */
HRESULT set_create_from_xml(const char *xml, size_t size, struct object **out);
HRESULT collector_from_xml(struct object *collector, const char *xml, size_t size, struct object *issues);
/* Creates a collector of the class that the root element names. */
HRESULT collector_create_from_xml(struct object *beside, const char *xml, size_t size, struct object *issues,
                                  struct object **out);
/* Elements of Windows' exports that OpenPLA does not use and does not report. Terminated by NULL. */
extern const char *const xml_ignored_elements[];
/* Convert dates and times of set XML, m/d/yyyy and h:mm:ss AM/PM, from and to DATEs. ISO forms are also read. */
bool date_from_text(const char *text, double *out);
bool time_from_text(const char *text, double *out);
char *date_to_text(double date); /* from memory_alloc */
char *time_to_text(double time);
/* Writes UTF-8 without an XML declaration; empty elements are <X/>. *xml is from memory_alloc. */
HRESULT object_to_xml(struct object *o, char **xml, size_t *size);
/* Writes the XML that another process needs to commit the same set. Omits values that the XML only displays. Omits
   live values, too, unless a client has written them (DECISIONS 13). `secrets`: includes the passwords of data sources.
   Does not call the set's verbs. */
HRESULT set_to_commit_xml(struct object *set, bool secrets, char **xml, size_t *size);
/* Writes the XML for the store. Omits live state, which is in the run record. */
HRESULT set_to_stored_xml(struct object *set, char **xml, size_t *size);
/* Works like set_to_stored_xml. Also returns the string that set_security_of_xml would read from that XML, from
   memory_alloc. *security NULL: a reader of the XML might get a different Security. */
HRESULT set_to_stored_xml_with_security(struct object *set, char **xml, size_t *size, char **security);

/* ---- thresholds of alerts: <counter path><operator><number> (MS-PLA 3.2.4.8; behaviour 12) ---- */

struct alert_threshold {
    char *path;     /* from memory_alloc */
    char operator_; /* '<' or '>' */
    double value;
};
/* Parses from the right, because a counter name may contain < and >. E_INVALIDARG: the string is not a threshold; the
   message contains it. */
HRESULT alert_threshold_parse(const char *text, struct alert_threshold *out);
/* Adds the counters of the set's counter collectors and alerts, each only once. If *interval_ms is 0 or longer than the
   shortest interval of these collectors, sets it to that interval. */
HRESULT set_list_counters(struct object *set, struct texts *counters, uint64_t *interval_ms);

/* Checks the program of an API tracing collector as Commit and Start do, and returns its expanded path from
   memory_alloc. Error texts do not name the property. PLA_E_PROPERTY_CONFLICT: no program is set. Also fails with
   PLA_E_NETWORK_EXE_NOT_VALID, PLA_E_EXE_FULL_PATH_REQUIRED, PLA_E_EXE_PATH_NOT_VALID. */
HRESULT api_tracing_program(const struct object *collector, char **out);

/* ---- the kernel's event providers, which no manifest registers (behaviour 10) ---- */

struct kernel_provider {
    GUID guid;
    const char *name;
    const char *session; /* the only session that can enable it */
};
enum { KERNEL_PROVIDERS = 2 };
extern const struct kernel_provider kernel_providers[KERNEL_PROVIDERS];
/* Returns the kernel's event provider with that GUID; NULL: none. */
const struct kernel_provider *kernel_provider_find(const GUID *guid);

#endif
