/* SPDX-License-Identifier: MIT */
/* Converts values between the model's types and COM's, by the kind of the property. */
#ifndef OPENPLA_CONVERT_H
#define OPENPLA_CONVERT_H

#include "com/objects/wrapper.h"
#include "engine/base/security.h"

/* Reads a property: `row` is its row number in the class's table, and `out` points to the COM value. property_put
   writes the property. */
HRESULT property_get(void *interface_pointer, size_t row, void *out);
/* Like property_get, but without a lock. The first function reads properties of the kind BOOL, the second function
   reads the kinds I32, U32, ENUM and FLAGS. */
HRESULT property_get_bool(void *interface_pointer, size_t row, void *out);
HRESULT property_get_number(void *interface_pointer, size_t row, void *out);
HRESULT property_put(void *interface_pointer, size_t row, const void *in);

/* Calls `method` with the caller and two BSTR arguments, converted by text_from_bstr; the copies are overwritten
   afterwards. */
typedef HRESULT (*texts_method)(struct object *o, const struct caller *caller, const char *first, const char *second);
HRESULT call_with_texts(void *interface_pointer, texts_method method, BSTR first, const char *first_argument,
                        BSTR second, const char *second_argument);

/* These functions implement the members Xml and SetXml of sets and collectors. `method` reads the XML, and adds its
   findings about the XML to the map that SetXml returns (plaValidation). */
HRESULT object_get_xml(void *interface_pointer, BSTR *out);
typedef HRESULT (*xml_method)(struct object *o, const char *xml, size_t size, struct object *issues);
HRESULT object_set_xml(void *interface_pointer, xml_method method, BSTR xml, const char *argument, IValueMap **issues);

/* Overwrites a secret. Called before the BSTR is freed, because the system caches freed BSTRs. NULL is allowed. */
void bstr_wipe(BSTR text);
/* Converts UTF-8 to a new BSTR. */
HRESULT bstr_from_text(const char *text, BSTR *out);
/* Converts a BSTR argument to UTF-8, from memory_alloc; NULL counts as "". Fails with E_INVALIDARG for an embedded NUL
   or a lone surrogate; the message names the argument. */
HRESULT text_from_bstr(BSTR in, const char *argument, char **out);
/* Locks an array of one dimension until SafeArrayUnaccessData. Fails with DISP_E_TYPEMISMATCH for any other array. */
HRESULT array_open(SAFEARRAY *in, VARTYPE type, LONG *count, void **items);
/* These functions convert an array of BSTR to strings, and back. NULL counts as empty. */
HRESULT texts_from_array(SAFEARRAY *in, const char *argument, struct texts *out);
HRESULT array_from_texts(const struct texts *in, SAFEARRAY **out);
/* These functions convert a VARIANT to the model's form, and back. References are followed. Arrays, objects and records
   fail with DISP_E_BADVARTYPE (DECISIONS 4) and a message that names the argument. */
HRESULT variant_from_com(const VARIANT *in, const char *argument, struct variant *out);
HRESULT variant_to_com(const struct variant *in, VARIANT *out);

#endif
