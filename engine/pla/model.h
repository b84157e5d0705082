/* SPDX-License-Identifier: MIT */
/* What a set is: objects made of property rows, their life, and getting and putting what they hold. No COM here. */
#ifndef OPENPLA_MODEL_H
#define OPENPLA_MODEL_H

#include "engine/base/quotas.h"
#include "engine/base/text.h"
#include "engine/pla/model/property.h"

#include <stdatomic.h>

struct validation;

/* What all objects of one kind share. */
struct class
{
    const char *name; /* also the name of its XML element */
    size_t size;
    const struct property *properties;
    size_t property_count;
    size_t items;                            /* offset of its struct items when it is a collection, else 0 */
    const struct class *const *item_classes; /* what may be in it, NULL at the end */
    bool adopts; /* a collection whose items belong to it alone: it is their parent, they share its lock */
    /* A collection's further rule for a new item, under the lock: which names are free; may be NULL. */
    HRESULT (*admit)(struct object *collection, struct object *item);
    HRESULT (*created)(struct object *o); /* makes child objects; may be NULL */
    /* Reads what runs left of the set that the object is or is in, or what was put in its place; PLA_E_DCS_NOT_FOUND:
       it is in none. May be NULL. */
    HRESULT (*read_live)(struct object *o, unsigned parts, struct set_live *out);
    /* What is outstanding of the object, before somebody has it who is not the engine; without the lock. May be NULL.
     */
    HRESULT (*complete)(struct object *o);
    const char *extension; /* of a collector's file, with its dot, unless extension_of says it */
    const char *(*extension_of)(const struct object *o); /* under the lock; may be NULL */
    /* What Commit has to tell of the object (engine/pla/model/validate.h); without the lock. `copy` is one consistent
       state of its rows, ours alone; fails only for what makes Commit itself fail. May be NULL. */
    HRESULT (*validate)(const struct validation *v, struct object *o, const struct object *copy);
    /* What is not in rows; each may be NULL. */
    void (*destroyed)(struct object *o);
    HRESULT (*copied)(const struct object *from, struct object *to);
    void (*exchanged)(struct object *a, struct object *b);
};

/* An object: reference-counted; `skin` is what the COM layer made for it, once, and is not counted. */
struct object {
    const struct class *class;
    atomic_uint references;
    atomic_uint lock;           /* which lock guards it: the same for all of a set (see object_lock) */
    struct object *parent;      /* borrowed; cleared by the parent when it lets go */
    void *skin;                 /* borrowed */
    bool items_read;            /* a draft's: its items came from XML and are to be taken (object_take) */
    uint64_t rows_put;          /* a draft's: the rows that were put into it, a bit each */
    uint64_t rows_chosen;       /* the rows whose value somebody chose: see object_row_is_chosen */
    struct memory_share *share; /* a reference: where its memory counts; NULL: nowhere */
    int64_t counted;            /* how much of it, under the lock */
};

/* Items of a collection; each a reference. */
struct items {
    struct object **list;
    size_t count, capacity;
};

/* A new object with its rows' defaults and one reference. `beside` is an object whose lock it shares, or NULL. Its
   memory counts for whom this thread serves: HRESULT of ERROR_NOT_ENOUGH_QUOTA. */
HRESULT object_create(const struct class *class, struct object *beside, struct object **out);
/* Whether the object may hold so many bytes more when this thread serves somebody: HRESULT of ERROR_NOT_ENOUGH_QUOTA by
   the share that they would count in, which is its maker's. */
HRESULT object_room(struct object *o, size_t bytes);
/* It holds so many bytes more beside its rows, or fewer. Under the lock. */
void object_count(struct object *o, int64_t bytes);
/* Both, until it goes. */
HRESULT object_hold(struct object *o, size_t bytes);
/* A child object for a field of `parent`, which becomes its parent and shares its lock. */
HRESULT object_create_child(struct object *parent, const struct class *class, struct object **field);
struct object *object_reference(struct object *o);
/* Takes a reference unless the last one has gone already. */
bool object_try_reference(struct object *o);
void object_release(struct object *o); /* NULL is allowed */

/* Every set and its children share one lock, chosen at creation. Not recursive; never held over a call that waits. */
void object_lock(struct object *o);
void object_unlock(struct object *o);

/* *out owns what it holds (value_free). Fails for out of memory or as the row's hook says. */
HRESULT object_get(struct object *o, const struct property *p, struct value *out);
/* The same for a number of up to 32 bits (a bool as 0 or 1) that is its field, in a tenth of the time. False: the row
   is none, or somebody holds the object's lock now; object_get says it then. */
bool object_get_number(const struct object *o, const struct property *p, uint32_t *out);
/* The same with what object_read_live gave, for who gets many at a time; NULL: runs are not asked. */
HRESULT object_get_with(struct object *o, const struct property *p, const struct set_live *live, struct value *out);
/* At least the parts (bits of enum set_live_part) that are asked for, for set_live_free; S_FALSE: the kind of object
   has nothing to do with runs; PLA_E_DCS_NOT_FOUND: it is in no set. *out is empty then. */
HRESULT object_read_live(struct object *o, unsigned parts, struct set_live *out);
/* Whether the field itself is the value, whatever runs left: it was put, or its row has nothing to do with runs. */
bool object_field_stands(struct object *o, const struct property *p);
/* Checks kind, range and the row's check, then replaces the field. The object is unchanged on failure. E_INVALIDARG
   with a text naming property and value. Read-only rows may be put too: access is the skin's business. */
HRESULT object_put(struct object *o, const struct property *p, const struct value *in);
/* The same, and takes over what *in holds, which is empty then; on failure that stays the caller's. */
HRESULT object_give(struct object *o, const struct property *p, struct value *in);
/* What a row of the kind PROPERTY_OBJECT holds, which stays the same for the object's life; else NULL. Borrowed. */
struct object *object_child(const struct object *o, const struct property *p);
/* The field itself, past the row's getter. */
HRESULT object_get_field(struct object *o, const struct property *p, struct value *out);
HRESULT object_put_default(struct object *o, const struct property *p);
/* Whether somebody chose the row's value: a client put it, whatever it is, or XML has another one than a new object
   would show, as exports have an element for each row. A collection is chosen when it has items. */
bool object_row_is_chosen(struct object *o, const struct property *p);
/* For who has read the object from XML: rows that show what they would show without their elements are not chosen. */
HRESULT object_forget_defaults(struct object *o);
/* As object_give, past the row's checks: the value is of its kind. */
void object_give_unchecked(struct object *o, const struct property *p, struct value *in);
/* Sets a text property without its checks. */
HRESULT object_put_text(struct object *o, const struct property *p, const char *text);
const struct property *class_property(const struct class *class, const char *name);
/* A new object of the same class and lock with equal property values, those of its stored child objects included; its
   collections are empty. */
HRESULT object_copy(struct object *from, struct object **out);
/* Exchanges the property values of two objects of one class and one lock, and those of their child objects, which keep
   their identity. Items are exchanged too. With !all `from` is a draft, and only what was put into it is taken: what
   others put meanwhile stays. */
void object_take(struct object *o, struct object *from, bool all);
/* The same with all, if *outstanding, which is cleared in the same step; false: it was not, and nothing is taken. */
bool object_take_outstanding(struct object *o, struct object *from, bool *outstanding);
/* Does what is outstanding of it, as class.complete says. */
HRESULT object_complete(struct object *o);

/* Collections. Index is zero-based: DISP_E_BADINDEX outside. */
size_t collection_count(struct object *collection);
HRESULT collection_item(struct object *collection, size_t index, struct object **out); /* a reference */
/* Keeps a reference and becomes the item's parent. The kind's own rules apply (duplicate names, another set). */
HRESULT collection_add(struct object *collection, struct object *item);
bool collection_takes(const struct class *collection, const struct class *item);
HRESULT collection_remove(struct object *collection, size_t index);
HRESULT collection_remove_object(struct object *collection, struct object *item); /* E_INVALIDARG if it is not in it */
void collection_clear(struct object *collection);
/* Exchanges the items of two collections of one class and one lock. */
void collection_exchange(struct object *a, struct object *b);
/* References to all items at this moment; *list from memory_alloc. */
HRESULT collection_snapshot(struct object *collection, struct object ***list, size_t *count);
void objects_release(struct object **list, size_t count); /* releases each and frees the list */

/* ---- the classes ---- */

/* Owner BA, group DU; full access for SY and BA, read and execute for Performance Log Users (behaviour 5). */
#define SET_DEFAULT_SECURITY "O:BAG:DUD:(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-32-559)"

struct user_value { /* SetValue's pairs */
    char *key, *value;
    bool document; /* value is an XML fragment */
};
/* What a set's live properties are read from once it is bound. */
struct set_live {
    uint32_t status, serial_number;
    char *latest_location; /* owned */
    struct texts latest_files;
    char *next_folder; /* owned; that a run would write to, as its process would name it; NULL: as we would */
};
enum set_live_part {
    SET_LIVE_STATUS = 1,
    SET_LIVE_SERIAL_NUMBER = 2,
    SET_LIVE_LOCATION = 4,
    SET_LIVE_FILES = 8,
    SET_LIVE_NEXT_FOLDER = 16
};

struct caller;
/* Where the verbs of a set go, given by who creates it: to the engine in this process (engine/pla/sets/local_sets.c),
   or to a server (com/facade/facade.c). `space` (static text) and `name` say what the set is bound to, or is to be;
   `caller` is who asks for it. Called without the lock; each leaves the set as it was on failure, and binds or fills it
   on success. */
struct set_verbs {
    /* Refuses the name of a machine that the verbs do not reach. Not called for a set with a category: its class only
       returns the name. */
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
    /* The data manager's Run: `steps` of DataManagerSteps, `folder` "" for all; `errors` as set_manage gives it. */
    HRESULT(*manage)
    (struct object *set, const struct caller *caller, const char *space, const char *name, uint32_t steps,
     const char *folder, struct object *errors);
    /* At least the parts (bits of enum set_live_part) that are asked for. */
    HRESULT (*read_live)(struct object *set, const char *space, const char *name, unsigned parts, struct set_live *out);
    /* A value that is not the set's own: of its latest run (engine/pla/sets/settings.def). */
    HRESULT(*get_run_value)
    (struct object *set, const struct caller *caller, const char *space, const char *name, const char *key,
     char **value);
    HRESULT (*set_credentials)(struct object *set, const struct caller *caller, const char *user, const char *password);
    /* Adds the sets of the namespace that match the pattern to a collection. */
    HRESULT(*list)
    (struct object *collection, const struct caller *caller, const char *space, const char *pattern,
     const char *server);
    /* Fills a set that `list` has bound only, if it is `listed` still; NULL: it fills all of them. */
    HRESULT (*read_listed)(struct object *set, const char *space, const char *name);
    void (*destroyed)(struct object *set); /* frees `peer`; NULL: there is none */
};

#define CLASS(model, I, base) extern const struct class model##_class;
#include "engine/pla/classes.def"
#undef CLASS

/* What a set has besides its rows:
   space          namespace when bound by Commit or Query, else NULL; static text
   category       namespace that the object's class fixes, else NULL; static text
   one_collector  Add refuses a second one: of namespaces whose sets are one trace
   serial_put     SerialNumber was put, or came in XML, since the last Query (DECISIONS 13)
   latest_put     the same for LatestOutputLocation
   listed         came in a list: it is bound, and what it holds is read when somebody gets it
   verbs          NULL: the fields are all there is
   credentials_put  SetCredentials was called since the last Query or Commit
   password       that it gave, NULL: none, and the set is to run as LocalSystem; the user is UserAccount
   peer           the verbs' own, under the lock */
#define MEMBERS                                                                                                        \
    struct user_value *values;                                                                                         \
    size_t value_count, value_capacity;                                                                                \
    const char *space, *category;                                                                                      \
    bool one_collector, serial_put, latest_put, credentials_put, listed;                                               \
    const struct set_verbs *verbs;                                                                                     \
    char *password;                                                                                                    \
    void *peer;
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
    const char *category; /* as that of a set */
    const struct set_verbs *verbs;
    bool
        for_facade; /* for a client of ours, which takes the names and asks for more when it needs it (own_members.h) */
};

/* The fields that every collector begins with; collector_of() gives them for any collector. */
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
/* The class of a DataCollectorType; NULL where there is none. */
const struct class *collector_class(uint32_t data_collector_type);
struct data_collector *collector_of(struct object *collector);
/* The set that a data manager belongs to, a reference; PLA_E_DCS_NOT_FOUND when it is gone. */
HRESULT data_manager_set(struct object *manager, struct object **set);
/* The set a collector belongs to, a reference; PLA_E_DCS_NOT_FOUND when it is in none. */
HRESULT collector_set(struct object *collector, struct object **set);

/* Whether the value can be that of a provider's map: Level is 0 to TRACE_LEVEL_MAX, Properties are 32 bits. */
#define TRACE_LEVEL_MAX 255
HRESULT trace_provider_check_value(struct object *map, int64_t value);
/* The map's value from its enabled items, and enabling items from a value (MS-PLA 2.2.2.11; behaviour 17). */
HRESULT value_map_get_value(struct object *map, struct variant *out);
HRESULT value_map_put_value(struct object *map, const struct variant *in);
/* Takes the names and descriptions of `from`'s items and keeps this map's value (MS-PLA 3.2.4.11.16). */
HRESULT value_map_resolve(struct object *map, struct object *from);
/* The values of all enabled items, each by itself. *values from memory_alloc. */
HRESULT value_map_enabled(struct object *map, uint64_t **values, size_t *count);
/* Add of an integer, or of a text: a number, else the key of an item to enable (MS-PLA 3.2.4.18.10). */
HRESULT value_map_add_value(struct object *map, const struct variant *in);

/* ---- issues: what Commit and SetXml report ---- */
/* A new plaValidation map. */
HRESULT issues_create(struct object *beside, struct object **map);
/* Adds an item: key path, HRESULT as VT_UI4, text. A NULL map: nobody wants to know. */
HRESULT issues_add(struct object *map, HRESULT hr, const char *key, const char *text);
/* Hands over each issue of a map that nobody else has, until that fails; the texts are borrowed. */
HRESULT issues_each(struct object *map, HRESULT (*each)(void *user, HRESULT hr, const char *key, const char *text),
                    void *user);
/* Whether the map, which nobody else has yet, has an item of that key and result. */
HRESULT issues_has(struct object *map, HRESULT hr, const char *key, bool *out);

/* ---- sets ---- */
HRESULT set_create(struct object **out);
/* Security of the set that the XML defines; from memory_alloc. OPENPLA_E_MALFORMED_XML also where what stands there is
   no descriptor. */
HRESULT set_security_of_xml(const char *xml, size_t size, char **security);
HRESULT set_put_value(struct object *set, const char *key, const char *value); /* NULL value removes */
/* The same for a value that may be an XML fragment (<Value type="document">). */
HRESULT set_put_value_as(struct object *set, const char *key, const char *value, bool document);
HRESULT set_get_value(struct object *set, const char *key, char **value);
/* Copies what validation finds into `issues` (a plaValidation map): MS-PLA 2.2.2.11. Fails only for what makes Commit
   itself fail. */
HRESULT set_validate(struct object *set, struct object *issues);
/* Collectors of a kind, schedules and the like in one collection, and values: Windows' sets have tens. XML with more is
   not read. */
#define SET_ITEMS_MAX QUOTA_NUMBER_items
/* E_INVALIDARG for a set that, once stored, nobody could read again. */
HRESULT set_check_limits(struct object *set);

/* RootPath, with its variables as they were put; its default where it is empty. Borrowed from the set. */
const char *set_root(const struct data_collector_set *set);
/* Whether a start creates the folder where it is missing: below %systemdrive%\PerfLogs, where published templates and
   Windows' own wizard have theirs; elsewhere a mistyped path must not make folders. `root` has no variables. */
bool set_creates_root(const char *root);
/* Folder and file of a run: serial number and moment as given. *out from memory_alloc. The folder lies below RootPath,
   the file below the folder: E_INVALIDARG else. */
struct name_context;
HRESULT set_output_folder(struct object *set, const struct name_context *context, char **out);
HRESULT collector_output_file(struct object *collector, const char *folder, const struct name_context *context,
                              char **out);
/* What Commit asks of them: E_INVALIDARG with a text that names property and value when Subdirectory, FileName or one
   of their patterns leads out of its folder (DECISIONS 36), as both functions above say too. */
HRESULT set_check_output(struct object *set);
/* The context for a run that starts now. context->computer is from memory_alloc: name_context_free. */
HRESULT name_context_now(uint32_t serial_number, struct name_context *out);
void name_context_free(struct name_context *context);

/* ---- XML: parse, fill defaults, validate, format; behaviour 18 ---- */
/* Reads set XML into `set`: elements that are there replace what the set has; bad values become the default and an
   issue, unknown elements an issue. OPENPLA_E_MALFORMED_XML with line and reason leaves the set as it was. */
HRESULT set_from_xml(struct object *set, const char *xml, size_t size, struct object *issues);
/* The same from what our own engine says of a live session or a set for the next start: the session's figures are
   taken, and names and sizes that no client could put. */
HRESULT set_from_own_xml(struct object *set, const char *xml, size_t size);
/* A new set with what the XML says, its issues dropped. *out is NULL on failure. */
HRESULT set_create_from_xml(const char *xml, size_t size, struct object **out);
HRESULT collector_from_xml(struct object *collector, const char *xml, size_t size, struct object *issues);
/* A new collector of the kind that the root element names. */
HRESULT collector_create_from_xml(struct object *beside, const char *xml, size_t size, struct object *issues,
                                  struct object **out);
/* Elements that a real export has and that nothing is made of: they are no issue. NULL at the end. */
extern const char *const xml_ignored_elements[];
/* Dates and times as set XML has them: m/d/yyyy and h:mm:ss AM/PM; read in ISO form too. Values are DATEs. */
bool date_from_text(const char *text, double *out);
bool time_from_text(const char *text, double *out);
char *date_to_text(double date); /* from memory_alloc */
char *time_to_text(double time);
/* UTF-8, no declaration, empty elements as <X/>. *xml from memory_alloc. */
HRESULT object_to_xml(struct object *o, char **xml, size_t *size);
/* What another object must be given to commit the same set: without what is only shown, and without the live state but
   what was put (DECISIONS 13). `secrets`: with the passwords of data sources. Asks nothing of the set's verbs. */
HRESULT set_to_commit_xml(struct object *set, bool secrets, char **xml, size_t *size);
/* What the store keeps: without asking what runs left, which is kept apart from the definition. */
HRESULT set_to_stored_xml(struct object *set, char **xml, size_t *size);

/* ---- thresholds of alerts: <counter path><operator><number> (MS-PLA 3.2.4.8; behaviour 12) ---- */

struct alert_threshold {
    char *path;     /* from memory_alloc */
    char operator_; /* '<' or '>' */
    double value;
};
/* Taken apart from the right, for a counter's name may hold < and >. E_INVALIDARG with the text. */
HRESULT alert_threshold_parse(const char *text, struct alert_threshold *out);

/* ---- trace providers of the kernel, which no manifest registers (behaviour 10) ---- */

struct kernel_provider {
    GUID guid;
    const char *name;
    const char *session; /* the one that can have it */
};
enum { KERNEL_PROVIDERS = 2 };
extern const struct kernel_provider kernel_providers[KERNEL_PROVIDERS];
/* NULL: it is none of the kernel's. */
const struct kernel_provider *kernel_provider_find(const GUID *guid);

#endif
