/* SPDX-License-Identifier: MIT */
/* Trace message format (TMF) files. They describe WPP messages (TraceMessage) and come with the program. Their form,
   from the WDK's pages on trace message format files:

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

/* Item of ExtendedData with a message's sequence number, a u32. ETW's own event record has no field for this number. */
#define TMF_ITEM_SEQUENCE 0x00FE

struct tmf_item; /* A type of argument. */
struct tmf_argument {
    char *name;
    uint32_t number; /* number by which the format refers to the argument; the first argument has number 10 */
    const struct tmf_item *item;
    char *item_name;
    struct texts list; /* the names in ItemListLong(a,b) and similar items */
};
struct tmf_message {
    GUID guid;
    uint16_t number;
    uint32_t line;
    char *guid_name, *type_name, *format;
    char *function, *level, *flags, *component, *subcomponent; /* "": not given */
    struct tmf_argument *arguments;                            /* arguments in the order of their data */
    size_t argument_count;
};
/* A file; messages sorted by GUID and number. */
struct tmf_document {
    char *source;
    struct tmf_message *messages;
    size_t count;
};
/* Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with "source(line): ..." if the text is not a valid TMF file. */
HRESULT tmf_text_read(const char *source, const void *bytes, size_t size, struct tmf_document **out);
void tmf_document_free(struct tmf_document *d); /* NULL is allowed */
void tmf_message_clear(struct tmf_message *m);
/* Returns NULL if the file has no such message. */
const struct tmf_message *tmf_document_find(const struct tmf_document *d, const GUID *guid, uint16_t number);
/* Creates a schema: the arguments become properties, and the format becomes the message, with inserts starting at %1.
   Returns HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), with an error text, if an argument has an unknown type. */
HRESULT tmf_schema(const struct tmf_message *m, struct event_schema **out);
/* Sets the text for %0 in the schema's messages: a format in which %1 to %9 are parts of the header. Without this call
   %0 is empty. */
HRESULT tmf_schema_prefix(struct event_schema *schema, const char *prefix);
/* Appends the message with all arguments in the forms that its format requests. If `gmt` is true, times are in UTC,
   otherwise in local time. Returns EVENT_DATA_INVALID, with an error text, if the event's data are too short. */
HRESULT tmf_sentence(const struct event_schema *schema, const EVENT_RECORD *event, uint32_t pointer_size, bool gmt,
                     struct text_buffer *out);
/* Returns the sequence number of the message, if it has one. */
bool tmf_sequence(const EVENT_RECORD *event, uint32_t *number);

/* ---- files ---- */

/* Appends the paths of a list separated by `;`. */
HRESULT tmf_take_paths(struct texts *list, const char *paths);
/* The TMF files of a process; may be used by any number of threads. Named files are read immediately; a missing file is
   searched for in the folders. If a message's GUID is unknown, GUID.tmf is searched for in the folders, but only once.
   If `folders` is empty, the folders in the variable TRACE_FORMAT_SEARCH_PATH are used. The prefix of messages comes
   from TRACE_FORMAT_PREFIX. `gmt` applies to tmf_property. */
struct tmf_files;
HRESULT tmf_files_create(const struct texts *files, const struct texts *folders, bool gmt, struct tmf_files **out);
void tmf_files_free(struct tmf_files *t); /* NULL is allowed */

/* Types of the properties that TdhGetWppProperty returns. */
enum tmf_property_kind { TMF_TEXT, TMF_NUMBER, TMF_GUID, TMF_TIME };
struct tmf_property {
    enum tmf_property_kind kind;
    char *text;       /* TMF_TEXT: from memory_alloc; other kinds: NULL */
    uint32_t number;  /* SequenceNum */
    GUID guid;        /* TraceGuid */
    int64_t filetime; /* SystemTime: from the event's header, UTC */
};
/* Returns FormattedString, SequenceNum, FunctionName, ComponentName, SubComponentName, TraceGuid, GuidTypeName,
   SystemTime, FlagsName or LevelName. Returns HRESULT_FROM_WIN32(ERROR_NOT_FOUND) if the name is unknown, the message
   lacks the property, or no file describes the message. */
HRESULT tmf_property(struct tmf_files *t, const EVENT_RECORD *event, uint32_t pointer_size, const char *name,
                     struct tmf_property *out);

/* Like tmf_property, for an event whose schema is known. */
HRESULT tmf_schema_property(const struct event_schema *schema, const EVENT_RECORD *event, uint32_t pointer_size,
                            bool gmt, const char *name, struct tmf_property *out);

HRESULT tmf_origin(const struct texts *files, const struct texts *folders, struct schema_origin *out);

/* ---- types of arguments ---- */

enum tmf_form {
    TMF_FORM_NUMBER, /* formatted as by printf */
    TMF_FORM_REAL,
    TMF_FORM_TEXT,     /* the value's text */
    TMF_FORM_LIST,     /* the number is an index; the result is the name at this index in the list */
    TMF_FORM_SET,      /* the names of the bits that are set in the number */
    TMF_FORM_TIME,     /* FILETIME */
    TMF_FORM_SPAN,     /* a duration in units of 100 ns */
    TMF_FORM_ONE_LINE, /* a string without its line ends */
};
struct tmf_item {
    const char *name;
    uint16_t in, out; /* enum value_in_type, value_out_type */
    uint16_t length;  /* bytes, for types of variable size */
    enum tmf_form form;
};
/* Returns NULL if the name is unknown. */
const struct tmf_item *tmf_item_find(const char *name);

#endif
