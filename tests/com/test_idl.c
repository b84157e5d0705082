/* SPDX-License-Identifier: MIT */
/* Compares the type library and mspla.h, member by member, with lists taken from MS-PLA. With a single wrong opnum,
   type or DISPID, every client built for Windows' PLA would call another method or misread a value. */
#include "mspla.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <windows.h>
#include <cmocka.h>
#include <ole2.h>
#include <string.h>

enum {
    NO_ID = 0x7fffffff, /* the specification gives the member no id() */
};

struct member {
    const char *interface_name;
    unsigned opnum;
    INVOKEKIND kind;
    const char *name;
    DISPID dispid;
    const char *signature;
};

#define GET    INVOKE_PROPERTYGET
#define PUT    INVOKE_PROPERTYPUT
#define METHOD INVOKE_FUNC
#define IDL_INTERFACE(interface, base, id)
#define IDL_MEMBER(interface, opnum, kind, name, dispid, signature) {#interface, opnum, kind, #name, dispid, signature},
static const struct member members[] = {
#include "idl_members.inc"
};
#undef IDL_INTERFACE
#undef IDL_MEMBER
#undef GET
#undef PUT
#undef METHOD

struct interface_row {
    const char *name, *base;
    const IID *header_id;
    IID id;
    size_t slots;
};

#define PLA_ID(first)                                                                                                  \
    {                                                                                                                  \
        first, 0x098b, 0x11d8,                                                                                         \
        {                                                                                                              \
            0x94, 0x14, 0x50, 0x50, 0x54, 0x50, 0x30, 0x30                                                             \
        }                                                                                                              \
    }
#define IDL_INTERFACE(interface, base, id)                                                                             \
    {#interface, #base, &IID_##interface, PLA_ID(id), sizeof(interface##Vtbl) / sizeof(void *)},
#define IDL_MEMBER(interface, opnum, kind, name, dispid, signature)
static const struct interface_row interfaces[] = {
#include "idl_members.inc"
};
#undef IDL_INTERFACE
#undef IDL_MEMBER

/* The C header: this file compiles only if each member's vtable slot is its opnum. */
#define GET(name)    get_##name
#define PUT(name)    put_##name
#define METHOD(name) name
#define IDL_INTERFACE(interface, base, id)
#define IDL_MEMBER(interface, opnum, kind, name, dispid, signature)                                                    \
    _Static_assert(offsetof(interface##Vtbl, kind(name)) == (opnum) * sizeof(void *), #interface "::" #name);
#include "idl_members.inc"
#undef IDL_INTERFACE
#undef IDL_MEMBER
#undef GET
#undef PUT
#undef METHOD

struct enumerator {
    const char *enumeration, *name;
    LONG value;
};

#define IDL_ENUMERATOR(enumeration, name, value)                                                                       \
    _Static_assert(name == (value), #name);                                                                            \
    _Static_assert(sizeof(enumeration) == 4, #enumeration);
#include "idl_enumerators.inc"
#undef IDL_ENUMERATOR
#define IDL_ENUMERATOR(enumeration, name, value) {#enumeration, #name, value},
static const struct enumerator enumerators[] = {
#include "idl_enumerators.inc"
};

/* Classes and their identifiers in Windows' registry; MS-PLA names eight of them (3.2.4.1). */
static const struct {
    const char *name, *interface_name;
    const CLSID *header_id;
    CLSID id;
} classes[] = {
    {"DataCollectorSet", "IDataCollectorSet", &CLSID_DataCollectorSet, PLA_ID(0x03837521)},
    {"DataCollectorSetCollection", "IDataCollectorSetCollection", &CLSID_DataCollectorSetCollection,
     PLA_ID(0x03837525)},
    {"TraceSession", "IDataCollectorSet", &CLSID_TraceSession, PLA_ID(0x0383751c)},
    {"TraceSessionCollection", "IDataCollectorSetCollection", &CLSID_TraceSessionCollection, PLA_ID(0x03837530)},
    {"TraceDataProvider", "ITraceDataProvider", &CLSID_TraceDataProvider, PLA_ID(0x03837513)},
    {"TraceDataProviderCollection", "ITraceDataProviderCollection", &CLSID_TraceDataProviderCollection,
     PLA_ID(0x03837511)},
    {"LegacyDataCollectorSet", "IDataCollectorSet", &CLSID_LegacyDataCollectorSet, PLA_ID(0x03837526)},
    {"LegacyDataCollectorSetCollection", "IDataCollectorSetCollection", &CLSID_LegacyDataCollectorSetCollection,
     PLA_ID(0x03837527)},
    {"LegacyTraceSession", "IDataCollectorSet", &CLSID_LegacyTraceSession, PLA_ID(0x03837528)},
    {"LegacyTraceSessionCollection", "IDataCollectorSetCollection", &CLSID_LegacyTraceSessionCollection,
     PLA_ID(0x03837529)},
    {"ServerDataCollectorSet", "IDataCollectorSet", &CLSID_ServerDataCollectorSet, PLA_ID(0x03837531)},
    {"ServerDataCollectorSetCollection", "IDataCollectorSetCollection", &CLSID_ServerDataCollectorSetCollection,
     PLA_ID(0x03837532)},
    {"SystemDataCollectorSet", "IDataCollectorSet", &CLSID_SystemDataCollectorSet, PLA_ID(0x03837546)},
    {"SystemDataCollectorSetCollection", "IDataCollectorSetCollection", &CLSID_SystemDataCollectorSetCollection,
     PLA_ID(0x03837547)},
    {"BootTraceSession", "IDataCollectorSet", &CLSID_BootTraceSession, PLA_ID(0x03837538)},
    {"BootTraceSessionCollection", "IDataCollectorSetCollection", &CLSID_BootTraceSessionCollection,
     PLA_ID(0x03837539)},
};

#define COUNT(array)    (sizeof(array) / sizeof(*(array)))
#define assert_hr(call) assert_int_equal((unsigned)(call), S_OK)

static ITypeLib *library;

static int load_library(void **state)
{
    WCHAR path[MAX_PATH];
    (void)state;
    if (!GetModuleFileNameW(NULL, path, COUNT(path)))
        return -1;
    return LoadTypeLibEx(path, REGKIND_NONE, &library) == S_OK ? 0 : -1;
}

static int free_library(void **state)
{
    (void)state;
    ITypeLib_Release(library);
    return 0;
}

static void narrow(BSTR text, char *out, size_t size)
{
    assert_true(WideCharToMultiByte(CP_UTF8, 0, text, -1, out, (int)size, NULL, NULL) > 0);
    SysFreeString(text);
}

static void name_of(ITypeInfo *info, MEMBERID member, char *out, size_t size)
{
    BSTR name = NULL;
    assert_hr(ITypeInfo_GetDocumentation(info, member, &name, NULL, NULL, NULL));
    narrow(name, out, size);
}

/* Returns the type info with that name, in its vtable view for a dual interface. */
static ITypeInfo *type_find_member(const char *name)
{
    for (UINT i = 0; i < ITypeLib_GetTypeInfoCount(library); i++) {
        ITypeInfo *info = NULL;
        TYPEATTR *attr = NULL;
        char found[128];
        assert_hr(ITypeLib_GetTypeInfo(library, i, &info));
        name_of(info, MEMBERID_NIL, found, sizeof found);
        if (strcmp(found, name) != 0) {
            ITypeInfo_Release(info);
            continue;
        }
        assert_hr(ITypeInfo_GetTypeAttr(info, &attr));
        if (attr->typekind == TKIND_DISPATCH) {
            HREFTYPE reference;
            ITypeInfo *vtable_view = NULL;
            assert_true(attr->wTypeFlags & TYPEFLAG_FDUAL);
            assert_hr(ITypeInfo_GetRefTypeOfImplType(info, (UINT)-1, &reference));
            assert_hr(ITypeInfo_GetRefTypeInfo(info, reference, &vtable_view));
            ITypeInfo_ReleaseTypeAttr(info, attr);
            ITypeInfo_Release(info);
            return vtable_view;
        }
        ITypeInfo_ReleaseTypeAttr(info, attr);
        return info;
    }
    fail_msg("%s is not in the type library", name);
    return NULL;
}

static void append(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);
    assert_true(used + strlen(text) < size);
    memcpy(out + used, text, strlen(text) + 1);
}

/* Writes a type's name as idl_members.inc spells it. */
static void write_type(ITypeInfo *info, const TYPEDESC *type, char *out, size_t size)
{
    static const struct {
        VARTYPE type;
        const char *name;
    } names[] = {{VT_BSTR, "BSTR"},         {VT_UI4, "ULONG"},           {VT_I4, "LONG"},
                 {VT_BOOL, "VARIANT_BOOL"}, {VT_UI8, "ULONG64"},         {VT_UI1, "BYTE"},
                 {VT_VARIANT, "VARIANT"},   {VT_DISPATCH, "IDispatch*"}, {VT_UNKNOWN, "IUnknown*"}};
    char user[128];
    ITypeInfo *referenced = NULL;
    switch (type->vt) {
    case VT_PTR:
        write_type(info, type->lptdesc, out, size);
        append(out, size, "*");
        return;
    case VT_SAFEARRAY:
        append(out, size, "SAFEARRAY(");
        write_type(info, type->lptdesc, out, size);
        append(out, size, ")");
        return;
    case VT_USERDEFINED:
        assert_hr(ITypeInfo_GetRefTypeInfo(info, type->hreftype, &referenced));
        name_of(referenced, MEMBERID_NIL, user, sizeof user);
        ITypeInfo_Release(referenced);
        append(out, size, user);
        return;
    default:
        for (size_t i = 0; i < COUNT(names); i++) {
            if (names[i].type == type->vt) {
                append(out, size, names[i].name);
                return;
            }
        }
        fail_msg("a parameter of type %u", type->vt);
    }
}

static void write_signature(ITypeInfo *info, const FUNCDESC *function, char *out, size_t size)
{
    *out = 0;
    for (SHORT i = 0; i < function->cParams; i++) {
        const ELEMDESC *parameter = &function->lprgelemdescParam[i];
        USHORT flags = parameter->paramdesc.wParamFlags;
        if (i)
            append(out, size, ", ");
        append(out, size,
               flags == PARAMFLAG_FIN                          ? "in "
               : flags == PARAMFLAG_FOUT                       ? "out "
               : flags == (PARAMFLAG_FOUT | PARAMFLAG_FRETVAL) ? "retval "
                                                               : "? ");
        write_type(info, &parameter->tdesc, out, size);
    }
    if (!function->cParams)
        append(out, size, "void");
}

/* A type library does not store [unique]; the wire tests check it. */
static void without_unique(const char *signature, char *out, size_t size)
{
    static const char word[] = "unique ";
    *out = 0;
    for (const char *at; (at = strstr(signature, word)); signature = at + sizeof word - 1) {
        assert_true(strlen(out) + (size_t)(at - signature) < size);
        strncat(out, signature, (size_t)(at - signature));
    }
    append(out, size, signature);
}

/* MIDL's rule for members without id(): 0x60000000, the inheritance depth (IUnknown is 0) in the third byte, and the
   index of the member's first accessor among the interface's own methods. */
static DISPID default_dispid(const struct member *member)
{
    const struct member *first = member;
    unsigned base = first->opnum;
    for (const struct member *m = member; m >= members && !strcmp(m->interface_name, member->interface_name); m--) {
        if (member->kind != INVOKE_FUNC && m->kind != INVOKE_FUNC && !strcmp(m->name, member->name))
            first = m;
        base = m->opnum;
    }
    return (DISPID)(0x60000000u | (base == 7 ? 2u : 3u) << 16 | (first->opnum - base));
}

static const char *typelib_name(const struct member *member)
{
    return !strcmp(member->name, "Start") ? "start" : !strcmp(member->name, "Name") ? "name" : member->name;
}

static void every_member_matches_the_specification(void **state)
{
    (void)state;
    unsigned wrong = 0;
    assert_int_equal(COUNT(members), 310);
    for (size_t i = 0; i < COUNT(members); i++) {
        const struct member *m = &members[i];
        unsigned first = !i || strcmp(m[-1].interface_name, m->interface_name) != 0 ? m->opnum : 0;
        static unsigned base;
        FUNCDESC *function = NULL;
        char name[128], is[512], want[512];
        ITypeInfo *info = type_find_member(m->interface_name);
        base = first ? first : base;
        assert_hr(ITypeInfo_GetFuncDesc(info, m->opnum - base, &function));
        name_of(info, function->memid, name, sizeof name);
        write_signature(info, function, is, sizeof is);
        without_unique(m->signature, want, sizeof want);
        DISPID dispid = m->dispid == NO_ID ? default_dispid(m) : m->dispid;
        if (function->oVft / (SHORT)sizeof(void *) != (SHORT)m->opnum || function->invkind != m->kind ||
            function->funckind != FUNC_PUREVIRTUAL || function->memid != dispid || strcmp(name, typelib_name(m)) != 0 ||
            strcmp(is, want) != 0 || function->elemdescFunc.tdesc.vt != VT_HRESULT) {
            print_error("%s::%s (%s), opnum %u, kind %d, id %#lx\n  is %s (%s), opnum %d, kind %d, id %#lx\n",
                        m->interface_name, m->name, want, m->opnum, m->kind, dispid, name, is,
                        function->oVft / (int)sizeof(void *), function->invkind, function->memid);
            wrong++;
        }
        ITypeInfo_ReleaseFuncDesc(info, function);
        ITypeInfo_Release(info);
    }
    assert_int_equal(wrong, 0);
}

static void every_interface_has_its_identifier_base_and_members(void **state)
{
    (void)state;
    assert_int_equal(COUNT(interfaces), 18);
    for (size_t i = 0; i < COUNT(interfaces); i++) {
        const struct interface_row *row = &interfaces[i];
        TYPEATTR *attr = NULL;
        HREFTYPE reference;
        ITypeInfo *base = NULL, *info = type_find_member(row->name);
        char name[128];
        unsigned own = 0;
        for (size_t k = 0; k < COUNT(members); k++)
            own += !strcmp(members[k].interface_name, row->name);
        assert_hr(ITypeInfo_GetTypeAttr(info, &attr));
        assert_memory_equal(&attr->guid, &row->id, sizeof(IID));
        assert_memory_equal(row->header_id, &row->id, sizeof(IID));
        assert_int_equal(attr->cFuncs, own);
        assert_int_equal(row->slots, own + (!strcmp(row->base, "IDispatch") ? 7 : 32));
        assert_hr(ITypeInfo_GetRefTypeOfImplType(info, 0, &reference));
        assert_hr(ITypeInfo_GetRefTypeInfo(info, reference, &base));
        name_of(base, MEMBERID_NIL, name, sizeof name);
        assert_string_equal(name, row->base);
        ITypeInfo_Release(base);
        ITypeInfo_ReleaseTypeAttr(info, attr);
        ITypeInfo_Release(info);
    }
}

static void scripts_find_members_by_name_in_any_case(void **state)
{
    (void)state;
    static WCHAR text[][16] = {L"START", L"Name", L"datamanager", L"latestOUTPUT"};
    ITypeInfo *info = type_find_member("IDataCollectorSet");
    for (size_t i = 0; i < COUNT(text); i++) {
        LPOLESTR name = text[i];
        MEMBERID id = 0;
        HRESULT hr = ITypeInfo_GetIDsOfNames(info, &name, 1, &id);
        assert_int_equal((unsigned)hr, i < 3 ? S_OK : (unsigned)DISP_E_UNKNOWNNAME);
    }
    ITypeInfo_Release(info);
}

static void type_library_is_the_one_that_programs_import(void **state)
{
    (void)state;
    static const GUID id = PLA_ID(0x03837500);
    TLIBATTR *attr = NULL;
    BSTR name = NULL, help = NULL;
    char text[128];
    assert_hr(ITypeLib_GetLibAttr(library, &attr));
    assert_memory_equal(&attr->guid, &id, sizeof id);
    assert_memory_equal(&LIBID_PlaLibrary, &id, sizeof id);
    assert_int_equal(attr->wMajorVerNum, 1);
    assert_int_equal(attr->wMinorVerNum, 0);
    assert_int_equal(attr->lcid, 0);
    assert_int_equal(attr->syskind, SYS_WIN64);
    ITypeLib_ReleaseTLibAttr(library, attr);
    assert_hr(ITypeLib_GetDocumentation(library, -1, &name, &help, NULL, NULL));
    narrow(name, text, sizeof text);
    assert_string_equal(text, "PlaLibrary");
    assert_true(SysStringLen(help) > 0);
    SysFreeString(help);
    /* The library contains interfaces, enumerations and classes, and nothing imported by accident. */
    assert_int_equal(ITypeLib_GetTypeInfoCount(library), 18 + 12 + COUNT(classes));
}

static void every_class_has_its_identifier_and_default_interface(void **state)
{
    (void)state;
    assert_int_equal(COUNT(classes), 16);
    for (size_t i = 0; i < COUNT(classes); i++) {
        ITypeInfo *implemented = NULL, *info = type_find_member(classes[i].name);
        TYPEATTR *attr = NULL;
        HREFTYPE reference;
        INT flags = 0;
        char name[128];
        assert_hr(ITypeInfo_GetTypeAttr(info, &attr));
        assert_int_equal(attr->typekind, TKIND_COCLASS);
        assert_int_equal(attr->cImplTypes, 1);
        assert_memory_equal(&attr->guid, &classes[i].id, sizeof(CLSID));
        assert_memory_equal(classes[i].header_id, &classes[i].id, sizeof(CLSID));
        assert_hr(ITypeInfo_GetImplTypeFlags(info, 0, &flags));
        assert_int_equal(flags, IMPLTYPEFLAG_FDEFAULT);
        assert_hr(ITypeInfo_GetRefTypeOfImplType(info, 0, &reference));
        assert_hr(ITypeInfo_GetRefTypeInfo(info, reference, &implemented));
        name_of(implemented, MEMBERID_NIL, name, sizeof name);
        assert_string_equal(name, classes[i].interface_name);
        ITypeInfo_Release(implemented);
        ITypeInfo_ReleaseTypeAttr(info, attr);
        ITypeInfo_Release(info);
    }
}

static void every_enumerator_has_its_value(void **state)
{
    (void)state;
    assert_int_equal(COUNT(enumerators), 63);
    for (size_t i = 0; i < COUNT(enumerators); i++) {
        const struct enumerator *e = &enumerators[i];
        ITypeInfo *info = type_find_member(e->enumeration);
        TYPEATTR *attr = NULL;
        VARDESC *variable = NULL;
        char name[128];
        UINT place = 0, all = 0;
        for (size_t k = 0; k < COUNT(enumerators); k++) {
            place += k < i && !strcmp(enumerators[k].enumeration, e->enumeration);
            all += !strcmp(enumerators[k].enumeration, e->enumeration);
        }
        assert_hr(ITypeInfo_GetTypeAttr(info, &attr));
        assert_int_equal(attr->typekind, TKIND_ENUM);
        assert_int_equal(attr->cVars, all);
        assert_hr(ITypeInfo_GetVarDesc(info, place, &variable));
        name_of(info, variable->memid, name, sizeof name);
        assert_string_equal(name, e->name);
        assert_int_equal(V_VT(variable->lpvarValue), VT_I4);
        assert_int_equal(V_I4(variable->lpvarValue), e->value);
        ITypeInfo_ReleaseVarDesc(info, variable);
        ITypeInfo_ReleaseTypeAttr(info, attr);
        ITypeInfo_Release(info);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_matches_the_specification),
        cmocka_unit_test(every_interface_has_its_identifier_base_and_members),
        cmocka_unit_test(scripts_find_members_by_name_in_any_case),
        cmocka_unit_test(type_library_is_the_one_that_programs_import),
        cmocka_unit_test(every_class_has_its_identifier_and_default_interface),
        cmocka_unit_test(every_enumerator_has_its_value),
    };
    return cmocka_run_group_tests(tests, load_library, free_library);
}
