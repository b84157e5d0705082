/* SPDX-License-Identifier: MIT */
/* The description of a property is called a row. Each PROPERTY line of a .def file becomes one row. All code that
   enumerates properties uses these rows. */
#ifndef OPENPLA_PROPERTY_H
#define OPENPLA_PROPERTY_H

#include "engine/base/text.h"

struct object;
struct property;
struct set_live;

enum property_kind {
    PROPERTY_BOOL,
    PROPERTY_I32,
    PROPERTY_U32,
    PROPERTY_U64,
    PROPERTY_ENUM,  /* a value outside the enumeration is rejected with E_INVALIDARG (DECISIONS 2) */
    PROPERTY_FLAGS, /* undefined bits are masked off */
    PROPERTY_TEXT,
    PROPERTY_TEXTS,
    PROPERTY_BYTES,
    PROPERTY_GUID,
    PROPERTY_VARIANT, /* scalars, text and dates (DECISIONS 4) */
    PROPERTY_DATE,    /* a VARIANT that is a date or empty; the time of day is discarded */
    PROPERTY_TIME,    /* a VARIANT that is a time of day or empty; the date is discarded */
    PROPERTY_OBJECT   /* a child object, which has its own rows */
};

/* The portable part of a VARIANT. The types have the numbers of VARIANT (MS-OAUT 2.2.7). */
enum variant_type {
    VARIANT_EMPTY = 0,
    VARIANT_NULL = 1,
    VARIANT_I2 = 2,
    VARIANT_I4 = 3,
    VARIANT_R4 = 4,
    VARIANT_R8 = 5,
    VARIANT_CY = 6,
    VARIANT_DATE = 7,
    VARIANT_TEXT = 8,
    VARIANT_ERROR = 10,
    VARIANT_BOOL_ = 11,
    VARIANT_I1 = 16,
    VARIANT_UI1 = 17,
    VARIANT_UI2 = 18,
    VARIANT_UI4 = 19,
    VARIANT_I8 = 20,
    VARIANT_UI8 = 21,
    VARIANT_INT = 22,
    VARIANT_UINT = 23
};
struct variant {
    enum variant_type type;
    int64_t integer; /* for integral types, VARIANT_BOOL_ (-1, 0), VARIANT_ERROR and VARIANT_CY (1/10000) */
    double real;     /* for VARIANT_R4, VARIANT_R8 and VARIANT_DATE */
    char *text;      /* for VARIANT_TEXT; owned */
};
HRESULT variant_copy(struct variant *to, const struct variant *from);
void variant_free(struct variant *v);
/* Converts an integral variant, a real without a fraction or a string of digits. Fails with DISP_E_TYPEMISMATCH or
   DISP_E_OVERFLOW. */
HRESULT variant_to_i64(const struct variant *v, int64_t *out);

struct bytes {
    size_t count;
    uint8_t *items; /* owned */
};
HRESULT bytes_copy(struct bytes *to, const struct bytes *from);

/* The value of one property. value_free frees the memory that it owns. */
struct value {
    enum property_kind kind;
    union {
        bool boolean;
        int32_t i32;
        uint32_t u32; /* also ENUM and FLAGS */
        uint64_t u64;
        char *text;
        struct texts texts;
        struct bytes bytes;
        GUID guid;
        struct variant variant; /* also DATE and TIME */
        struct object *object;  /* a reference */
    };
};
size_t value_size(enum property_kind kind); /* size of the union's member */
size_t value_bytes(const struct value *v);  /* approximate heap bytes that the value owns; 0 for an object */
/* *to is empty on failure. */
HRESULT value_copy(struct value *to, const struct value *from);
/* Compares two values of one kind. Objects are compared by identity. */
bool value_equal(const struct value *a, const struct value *b);
void value_free(struct value *v);

struct enumeration {
    const char *name;
    size_t count;
    const struct enumeration_item {
        const char *name;
        uint32_t value;
    } * items;
};
#define ENUMERATION(Name, ...) extern const struct enumeration enumeration_##Name;
#include "engine/pla/enumerations.def"
#undef ENUMERATION
bool enumeration_has(const struct enumeration *e, uint32_t value);
uint32_t enumeration_mask(const struct enumeration *e); /* all bits of the enumeration */

enum property_access {
    ACCESS_RO,  /* get only */
    ACCESS_RW,  /* get and put */
    ACCESS_NONE /* not a member of the interface; in XML only */
};
enum property_xml {
    XML_HIDDEN, /* not in XML */
    XML_SHOWN,  /* written to XML; ignored when XML is read */
    XML_STORED, /* written to XML and read from it */
    XML_ITEMS,  /* a collection, whose items are elements inside the parent's element */
    XML_INSIDE, /* a string with XML, which is the contents of the element */
    XML_WHOLE   /* a string with XML, which is the element with its contents */
};

struct property {
    const char *name;
    enum property_kind kind;
    enum property_access access;
    enum property_xml xml_use;
    const char *xml;      /* element name */
    bool not_in_sessions; /* no element in the XML of a trace session, as in Windows' exports */
    bool figure;          /* statistic of a live session; set_from_own_xml reads it, set_from_xml ignores it */
    bool if_any;          /* no element if the value is 0 */
    bool bits;         /* a U32 that is a bit mask; scripts write it as a negative number if the highest bit is set */
    bool secret;       /* the getter removes secrets */
    bool lenient;      /* text that UTF-8 cannot represent becomes U+FFFD instead of failing (DECISIONS 3) */
    const char *alias; /* another element name that is read, or NULL (DECISIONS 6) */
    size_t offset;     /* offset of the field in the object's struct */
    int64_t number;    /* default for a number */
    const char *text;  /* default for a string or a list; the items of a list are separated by ';' */
    int64_t min, max;  /* range of I32 and U32; for BYTES, `max` is the maximum number of bytes */
    const struct enumeration *enumeration;
    /* Hooks; NULL for a regular row. `get` reads the property. Called without the object's lock; *out is empty and has
       the row's kind. */
    HRESULT (*get)(struct object *o, const struct property *p, struct value *out);
    /* Replaces `get` for live properties. `live` is NULL if live state must not be read or the object does not belong
       to a set. */
    HRESULT (*get_live)(struct object *o, const struct property *p, const struct set_live *live, struct value *out);
    unsigned live_parts; /* bits of enum set_live_part that get_live uses */
    HRESULT (*check)(struct object *o, const struct property *p, const struct value *in); /* rejects a value */
    void (*changed)(struct object *o); /* called after the field was set, by a client or from XML; under the lock */
    /* Returns whether a client has set the field. If so, the field overrides the run record. Called under the lock.
       NULL: always true. */
    bool (*put)(const struct object *o);
    /* Reads the XML element of a SHOWN row. NULL: the element is ignored. */
    HRESULT (*read)(struct object *o, const struct property *p, const char *text);
    bool counter_paths; /* for TEXTS: adds a missing first backslash to each path that is read from XML */
    const char *doc;
};

/* Returns whether the row accepts a negative number and reinterprets it as unsigned. Bit masks and enumerations accept
   negative numbers, because they are signed in COM. In other rows a negative number would become a number of 2^31 or
   more. */
static inline bool property_takes_negative(const struct property *p)
{
    return p->kind != PROPERTY_U32 || p->bits;
}

/* These macros convert the columns of a .def file to fields and to members of rows. Numbers of up to 32 bits are atomic
   (object_get_number). */
#define FIELD_BOOL(Name)                        _Atomic bool Name;
#define FIELD_I32(Name)                         _Atomic int32_t Name;
#define FIELD_U32(Name)                         _Atomic uint32_t Name;
#define FIELD_U64(Name)                         uint64_t Name;
#define FIELD_BYTES(Name)                       struct bytes Name;
#define FIELD_GUID(Name)                        GUID Name;
#define FIELD_DATE(Name)                        struct variant Name;
#define FIELD_TIME(Name)                        struct variant Name;
#define FIELD_ENUM_(Name)                       _Atomic uint32_t Name;
#define FIELD_FLAGS_(Name)                      _Atomic uint32_t Name;
#define FIELD_ENUM(E)                           FIELD_ENUM_
#define FIELD_FLAGS(E)                          FIELD_FLAGS_
#define FIELD_TEXT(Name)                        char *Name; /* never NULL */
#define FIELD_TEXTS(Name)                       struct texts Name;
#define FIELD_VARIANT(Name)                     struct variant Name;
#define FIELD_OBJECT_(Name)                     struct object *Name; /* a reference */
#define FIELD_OBJECT(C)                         FIELD_OBJECT_
#define PROPERTY_FIELD(access, kind, Name, ...) FIELD_##kind(Name)

#define KIND_BOOL                               .kind = PROPERTY_BOOL, .min = 0, .max = 1
#define KIND_I32                                .kind = PROPERTY_I32
#define KIND_U32                                .kind = PROPERTY_U32
#define KIND_ENUM(E)                            .kind = PROPERTY_ENUM, .enumeration = &enumeration_##E
#define KIND_FLAGS(E)                           .kind = PROPERTY_FLAGS, .enumeration = &enumeration_##E
#define KIND_U64                                .kind = PROPERTY_U64
#define KIND_BYTES                              .kind = PROPERTY_BYTES
#define KIND_GUID                               .kind = PROPERTY_GUID
#define KIND_DATE                               .kind = PROPERTY_DATE
#define KIND_TIME                               .kind = PROPERTY_TIME
#define KIND_TEXT                               .kind = PROPERTY_TEXT
#define KIND_TEXTS                              .kind = PROPERTY_TEXTS
#define KIND_VARIANT                            .kind = PROPERTY_VARIANT
#define KIND_OBJECT(C)                          .kind = PROPERTY_OBJECT
#define HIDDEN                                  .xml_use = XML_HIDDEN
#define SHOWN(element)                          .xml_use = XML_SHOWN, .xml = element
#define STORED(element)                         .xml_use = XML_STORED, .xml = element
#define INSIDE(element)                         .xml_use = XML_INSIDE, .xml = element
#define WHOLE(element)                          .xml_use = XML_WHOLE, .xml = element
#define ITEMS                                   .xml_use = XML_ITEMS
#define ALIAS(element)                          .alias = element,
#define NUMBER(n)                               .number = (n)
#define STRING(t)                               .text = (t)
#define EMPTY                                   .number = 0
#define RANGE(lo, hi)                           , .min = (lo), .max = (hi)
#define GETTER(f)                               .get = (f),
#define LIVE_GETTER(f, parts)                   .get_live = (f), .live_parts = (parts),
#define CHECK(f)                                .check = (f),
#define CHANGED(f)                              .changed = (f),
#define LIVE(f)                                 .put = (f),
#define READER(f)                               .read = (f),
#define COUNTER_PATHS                           .counter_paths = true,
#define NOT_IN_SESSIONS                         .not_in_sessions = true,
#define LENIENT                                 .lenient = true,
#define SECRET                                  .secret = true,
#define FIGURE                                  .figure = true,
#define BITS                                    .bits = true,
#define IF_ANY                                  .if_any = true,
#define PLAIN
#define CLASS_JOIN_(a, b) a##b
#define CLASS_JOIN(a, b)  CLASS_JOIN_(a, b)
/* Initialises the members of struct class for the rows of class_rows.inc. */
#define CLASS_ROWS(Class, Interface)                                                                                   \
    .size = sizeof(struct Class), .properties = Class##_rows, .property_count = Interface##_count
/* Initialises the row of a property of struct CLASS. */
#define PROPERTY_ROW(access_, kind_, Name, xml_, default_, hooks, doc_)                                                \
    {.name = #Name,                                                                                                    \
     KIND_##kind_,                                                                                                     \
     .access = ACCESS_##access_,                                                                                       \
     xml_,                                                                                                             \
     .offset = offsetof(struct CLASS, Name),                                                                           \
     default_,                                                                                                         \
     hooks.doc = doc_},

#endif
