/* SPDX-License-Identifier: MIT */
/* Trace message format: what the messages of WPP (TraceMessage) say is in .tmf files, which come with the program. The
   text form, as WDK's pages on trace message format files show it:

       GUID  NAME  // SRC=file MJ=component MN=subcomponent
       #typev TYPE NUMBER "%0Hello, %10!s! %11!04x!" //   LEVEL=ERROR FLAGS=Flag FUNC=DriverEntry
       {
       Name, ItemString -- 10
       Value, ItemLong -- 11
       }
*/
#ifndef OPENPLA_TMF_H
#define OPENPLA_TMF_H

#include "engine/etw/decode/event_schema.h"

/* In ExtendedData of a message that has one: its sequence number, u32. ETW's own record has no place for it. */
#define TMF_ITEM_SEQUENCE 0x00FE

struct tmf_item; /* a kind of argument */
struct tmf_argument {
    char *name;
    uint32_t number; /* in the format: from 10 on */
    const struct tmf_item *item;
    char *item_name;
    struct texts list; /* of ItemListLong(a,b) and the like */
};
struct tmf_message {
    GUID guid;
    uint16_t number;
    uint32_t line;
    char *guid_name, *type_name, *format;
    char *function, *level, *flags, *component, *subcomponent; /* "": not told */
    struct tmf_argument *arguments;                            /* in the order of their data */
    size_t argument_count;
};
/* One file; by GUID and number. */
struct tmf_document {
    char *source;
    struct tmf_message *messages;
    size_t count;
};
/* ERROR_INVALID_DATA's HRESULT with "source(line): ..." for what is no such file. */
HRESULT tmf_text_read(const char *source, const void *bytes, size_t size, struct tmf_document **out);
void tmf_document_free(struct tmf_document *d); /* NULL is allowed */
void tmf_message_clear(struct tmf_message *m);
/* NULL: it has none. */
const struct tmf_message *tmf_document_find(const struct tmf_document *d, const GUID *guid, uint16_t number);
/* Its arguments as properties, and its format as the message of them, %1 on. ERROR_NOT_SUPPORTED's HRESULT with a text
   when it has an argument of a kind that is not known. */
HRESULT tmf_schema(const struct tmf_message *m, struct event_schema **out);
/* What stands in the place of %0 in the schema's sentences: a format in which %1 to %9 are parts of the header.
   Nothing, if it is not called. */
HRESULT tmf_schema_prefix(struct event_schema *schema, const char *prefix);
/* Adds the message with all its arguments in the forms that its format asks for. `gmt`: times in UTC, else local ones.
   EVENT_DATA_INVALID with a text: the event has less. */
HRESULT tmf_sentence(const struct event_schema *schema, const EVENT_RECORD *event, uint32_t pointer_size, bool gmt,
                     struct text_buffer *out);
/* The number of the message, if it has one. */
bool tmf_sequence(const EVENT_RECORD *event, uint32_t *number);

/* ---- files ---- */

/* Adds those of a list with `;` between. */
HRESULT tmf_take_paths(struct texts *list, const char *paths);
/* Known to any number of threads. Files are read at once, one that is not where it is named in the folders; in these
   GUID.tmf is looked for when a message has that GUID, once. Without folders they are those of the variable
   TRACE_FORMAT_SEARCH_PATH; sentences have the prefix of TRACE_FORMAT_PREFIX. `gmt` is for tmf_property. */
struct tmf_files;
HRESULT tmf_files_create(const struct texts *files, const struct texts *folders, bool gmt, struct tmf_files **out);
void tmf_files_free(struct tmf_files *t); /* NULL is allowed */

/* What TdhGetWppProperty has of a message. */
enum tmf_property_kind { TMF_TEXT, TMF_NUMBER, TMF_GUID, TMF_TIME };
struct tmf_property {
    enum tmf_property_kind kind;
    char *text;       /* from memory_alloc; else NULL */
    uint32_t number;  /* SequenceNum */
    GUID guid;        /* TraceGuid */
    int64_t filetime; /* SystemTime: as the event's header has it, UTC */
};
/* FormattedString, SequenceNum, FunctionName, ComponentName, SubComponentName, TraceGuid, GuidTypeName, SystemTime,
   FlagsName, LevelName. ERROR_NOT_FOUND's HRESULT: there is no such one, the message does not have it, or nothing is
   known of the message. */
HRESULT tmf_property(struct tmf_files *t, const EVENT_RECORD *event, uint32_t pointer_size, const char *name,
                     struct tmf_property *out);

/* The same of an event whose schema is known. */
HRESULT tmf_schema_property(const struct event_schema *schema, const EVENT_RECORD *event, uint32_t pointer_size,
                            bool gmt, const char *name, struct tmf_property *out);

HRESULT tmf_origin(const struct texts *files, const struct texts *folders, struct schema_origin *out);

/* ---- kinds of arguments ---- */

enum tmf_form {
    TMF_FORM_NUMBER, /* by printf's rules */
    TMF_FORM_REAL,
    TMF_FORM_TEXT,     /* as the value's text */
    TMF_FORM_LIST,     /* the name at the number's place */
    TMF_FORM_SET,      /* the names of its bits */
    TMF_FORM_TIME,     /* FILETIME */
    TMF_FORM_SPAN,     /* 100 ns */
    TMF_FORM_ONE_LINE, /* a text without its line ends */
};
struct tmf_item {
    const char *name;
    uint16_t in, out; /* enum value_in_type, value_out_type */
    uint16_t length;  /* bytes that the type does not tell */
    enum tmf_form form;
};
/* NULL: none of that name is known. */
const struct tmf_item *tmf_item_find(const char *name);

#endif
