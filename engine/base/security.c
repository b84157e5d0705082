/* SPDX-License-Identifier: MIT */
/* Checks whether the caller is a given account or an administrator, and parses security descriptors in SDDL. */
#include "engine/base/security.h"

#include "engine/base/memory.h"

#include <ctype.h>
#include <string.h>

static bool caller_passes(const struct caller *caller, const char *descriptor)
{
    static const struct access_rights one = {1, 1, 1, 1};
    struct access_subject *subject;
    bool allowed = false;
    if (FAILED(access_open(caller, &subject)))
        return false;
    if (FAILED(access_allows(subject, descriptor, &one, 1, &allowed)))
        allowed = false;
    access_close(subject);
    return allowed;
}

bool access_is_administrator(const struct caller *caller)
{
    return caller_passes(caller, "D:(A;;1;;;SY)(A;;1;;;BA)");
}

bool access_is_account(const struct caller *caller, const char *sid)
{
    char *descriptor = text_format("D:(A;;1;;;%s)", sid);
    const bool is = descriptor && caller_passes(caller, descriptor);
    memory_free(descriptor);
    return is;
}

/* ---- SDDL: the grammar of MS-DTYP 2.5.1.1; unknown elements are rejected ---- */

enum { TEXT_MOST = 65536, ENTRIES_MOST = 1024 }; /* a binary access list has at most 65,535 bytes */

/* ---- SDDL: accounts ---- */

static const struct {
    char alias[3];
    uint8_t authority, count;
    uint32_t parts[2];
} known[] = {
    {"WD", 1, 1, {0}},       {"CO", 3, 1, {0}},       {"CG", 3, 1, {1}},       {"OW", 3, 1, {4}},
    {"NU", 5, 1, {2}},       {"IU", 5, 1, {4}},       {"SU", 5, 1, {6}},       {"AN", 5, 1, {7}},
    {"ED", 5, 1, {9}},       {"PS", 5, 1, {10}},      {"AU", 5, 1, {11}},      {"RC", 5, 1, {12}},
    {"SY", 5, 1, {18}},      {"LS", 5, 1, {19}},      {"NS", 5, 1, {20}},      {"WR", 5, 1, {33}},
    {"BA", 5, 2, {32, 544}}, {"BU", 5, 2, {32, 545}}, {"BG", 5, 2, {32, 546}}, {"PU", 5, 2, {32, 547}},
    {"AO", 5, 2, {32, 548}}, {"SO", 5, 2, {32, 549}}, {"PO", 5, 2, {32, 550}}, {"BO", 5, 2, {32, 551}},
    {"RE", 5, 2, {32, 552}}, {"RU", 5, 2, {32, 554}}, {"RD", 5, 2, {32, 555}}, {"NO", 5, 2, {32, 556}},
    {"MU", 5, 2, {32, 558}}, {"LU", 5, 2, {32, 559}}, {"IS", 5, 2, {32, 568}}, {"CY", 5, 2, {32, 569}},
    {"ER", 5, 2, {32, 573}}, {"CD", 5, 2, {32, 574}}, {"RA", 5, 2, {32, 575}}, {"ES", 5, 2, {32, 576}},
    {"MS", 5, 2, {32, 577}}, {"HA", 5, 2, {32, 578}}, {"AA", 5, 2, {32, 579}}, {"RM", 5, 2, {32, 580}},
    {"AC", 15, 2, {2, 1}},   {"LW", 16, 1, {4096}},   {"ME", 16, 1, {8192}},   {"MP", 16, 1, {8448}},
    {"HI", 16, 1, {12288}},  {"SI", 16, 1, {16384}},  {"AS", 18, 1, {1}},      {"SS", 18, 1, {2}},
};
/* Aliases of accounts whose SIDs depend on the machine or its domain, and of user-mode drivers, whose SID is too long
   for the table above. */
static const char relative[][3] = {"LA", "LG", "DA", "DU", "DG", "DC", "DD", "CA", "SA",
                                   "EA", "PA", "RS", "RO", "CN", "AP", "KA", "EK", "UD"};

static bool of_alias(const char alias[3], struct sid *out)
{
    *out = (struct sid){0};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(known[i].alias, alias)) {
            out->authority = known[i].authority;
            out->count = known[i].count;
            memcpy(out->parts, known[i].parts, sizeof known[i].parts);
            return true;
        }
    for (size_t i = 0; i < sizeof relative / sizeof relative[0]; i++)
        if (!strcmp(relative[i], alias)) {
            memcpy(out->alias, alias, sizeof out->alias);
            return true;
        }
    return false;
}

/* Reads a number in base `base`, and moves *at past its digits. False: the number has no digits or a digit that is too
   large for the base, or exceeds `most`. */
static bool sid_read_number(const char **at, const char *end, unsigned base, uint64_t most, uint64_t *out)
{
    const char *s = *at;
    *out = 0;
    for (; s < end && isxdigit((unsigned char)*s); s++) {
        const unsigned digit =
            (unsigned)(isdigit((unsigned char)*s) ? *s - '0' : toupper((unsigned char)*s) - 'A' + 10);
        if (digit >= base || *out > (most - digit) / base)
            return false;
        *out = *out * base + digit;
    }
    const bool any = s != *at;
    *at = s;
    return any;
}

/* Reads a number: hexadecimal with a leading 0x, octal with a leading 0 if `octal` is set, otherwise decimal. */
static bool any_number(const char **at, const char *end, bool octal, uint64_t most, uint64_t *out)
{
    if (end - *at > 2 && **at == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X')) {
        *at += 2;
        return sid_read_number(at, end, 16, most, out);
    }
    return sid_read_number(at, end, octal && **at == '0' ? 8 : 10, most, out);
}

bool sid_read(const char *text, size_t length, struct sid *out)
{
    const char *at = text, *end = text + length;
    uint64_t part;
    *out = (struct sid){0};
    if (length == 2) {
        const char alias[3] = {(char)toupper((unsigned char)at[0]), (char)toupper((unsigned char)at[1]), 0};
        return of_alias(alias, out);
    }
    if (length < 5 || toupper((unsigned char)at[0]) != 'S' || memcmp(at + 1, "-1-", 3) != 0)
        return false;
    at += 4;
    if (!any_number(&at, end, false, UINT64_C(0xFFFFFFFFFFFF), &out->authority))
        return false;
    while (at < end && *at == '-' && out->count < 15) {
        at++;
        if (!any_number(&at, end, false, UINT32_MAX, &part))
            return false;
        out->parts[out->count++] = (uint32_t)part;
    }
    return at == end;
}

bool sid_equal(const struct sid *a, const struct sid *b)
{
    return !strcmp(a->alias, b->alias) && a->authority == b->authority && a->count == b->count &&
           !memcmp(a->parts, b->parts, a->count * sizeof a->parts[0]);
}

/* ---- SDDL: rights and flags ---- */

static const struct {
    char name[3];
    uint32_t rights;
} rights[] = {
    {"GA", 0x10000000}, {"GX", 0x20000000}, {"GW", 0x40000000}, {"GR", 0x80000000}, {"RC", 0x20000}, {"SD", 0x10000},
    {"WD", 0x40000},    {"WO", 0x80000},    {"CC", 0x1},        {"DC", 0x2},        {"LC", 0x4},     {"SW", 0x8},
    {"RP", 0x10},       {"WP", 0x20},       {"DT", 0x40},       {"LO", 0x80},       {"CR", 0x100},   {"FA", 0x1F01FF},
    {"FR", 0x120089},   {"FW", 0x120116},   {"FX", 0x1200A0},   {"KA", 0xF003F},    {"KR", 0x20019}, {"KW", 0x20006},
    {"KX", 0x20019},    {"NR", 0x2},        {"NW", 0x1},        {"NX", 0x4},
};

static bool read_rights(const char *at, const char *end, uint32_t *out)
{
    uint64_t mask;
    *out = 0;
    if (at < end && isdigit((unsigned char)*at)) {
        const bool whole = any_number(&at, end, true, UINT32_MAX, &mask) && at == end;
        *out = (uint32_t)mask;
        return whole;
    }
    for (; at + 1 < end; at += 2) {
        size_t i = 0, count = sizeof rights / sizeof rights[0];
        while (i < count && memcmp(rights[i].name, at, 2) != 0)
            i++;
        if (i == count)
            return false;
        *out |= rights[i].rights;
    }
    return at == end;
}

/* Checks that the field consists of known flags, each a pair of letters. *for_heirs: the entry applies only to objects
   that inherit it. */
static bool read_flags(const char *at, const char *end, bool *for_heirs)
{
    static const char names[][3] = {"CI", "OI", "NP", "IO", "ID", "SA", "FA", "TP", "CR"};
    *for_heirs = false;
    for (; at + 1 < end; at += 2) {
        size_t i = 0, count = sizeof names / sizeof names[0];
        while (i < count && memcmp(names[i], at, 2) != 0)
            i++;
        if (i == count)
            return false;
        *for_heirs = *for_heirs || !strcmp(names[i], "IO");
    }
    return at == end;
}

/* ---- SDDL: entries ---- */

static const char not_an_entry[] =
    "an entry does not have the form (type;flags;rights;object;inherited object;account)";
static const char unknown_rights[] = "an entry has unknown rights or flags";
static const char unknown_account[] = "an account is neither a SID (S-1-...) nor an SDDL alias";
static const char unknown_type[] = "an entry of the DACL is neither an allow nor a deny entry";

enum { TYPE, FLAGS, RIGHTS, OBJECT, HEIR, ACCOUNT, FIELDS };
struct span {
    const char *begin, *end;
};

/* Reads the fields of an entry from its parenthesis on. The account can be followed by a condition or an attribute with
   nested parentheses. Returns the end of the entry; NULL: it is malformed. */
static const char *read_fields(const char *s, struct span fields[FIELDS])
{
    size_t depth = 0;
    bool quoted = false;
    for (int field = 0; field < FIELDS; field++) {
        const char *begin = s + 1;
        s = begin + strcspn(begin, ";()");
        fields[field] = (struct span){begin, s};
        if (field != ACCOUNT && *s != ';')
            return NULL;
    }
    if (*s != ';' && *s != ')')
        return NULL;
    for (; *s && (quoted || depth || *s != ')'); s++) {
        quoted = quoted != (*s == '"');
        depth += !quoted && *s == '(';
        depth -= !quoted && *s == ')';
    }
    return *s ? s + 1 : NULL;
}

static bool is(const struct span *s, const char *text)
{
    return (size_t)(s->end - s->begin) == strlen(text) && !memcmp(s->begin, text, strlen(text));
}

static HRESULT add_entry(struct sddl *out, const struct sddl_entry *entry)
{
    void *entries = out->entries;
    if (!memory_grow(&entries, &out->capacity, out->count + 1, sizeof *entry))
        return E_OUTOFMEMORY;
    out->entries = entries;
    out->entries[out->count++] = *entry;
    return S_OK;
}

static HRESULT read_entry(const struct span fields[FIELDS], bool audits, struct sddl *out, const char **why)
{
    const struct span *type = &fields[TYPE];
    const bool object = fields[OBJECT].begin != fields[OBJECT].end || fields[HEIR].begin != fields[HEIR].end;
    const bool on_condition = is(type, "XA") || is(type, "XD") || is(type, "ZA");
    struct sddl_entry entry = {.denies = is(type, "D") || is(type, "OD") || is(type, "XD"),
                               .blind = object || on_condition};
    bool for_heirs = false;
    *why = type->begin == type->end ? not_an_entry
           : !sid_read(fields[ACCOUNT].begin, (size_t)(fields[ACCOUNT].end - fields[ACCOUNT].begin), &entry.account)
               ? unknown_account
           : !read_flags(fields[FLAGS].begin, fields[FLAGS].end, &for_heirs) ||
                   !read_rights(fields[RIGHTS].begin, fields[RIGHTS].end, &entry.rights)
               ? unknown_rights
           : audits || entry.denies || on_condition || is(type, "A") || is(type, "OA") ? NULL
                                                                                       : unknown_type;
    if (*why)
        return E_INVALIDARG;
    return audits || for_heirs ? S_OK : add_entry(out, &entry);
}

/* Reads a list after "D:" or "S:" and moves *at past it. */
static HRESULT read_list(const char **at, bool audits, struct sddl *out, const char **why)
{
    static const char *const flags[] = {"P", "AR", "AI"};
    const char *s = *at;
    size_t entries = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (!strncmp(s, flags[i], strlen(flags[i]))) {
            s += strlen(flags[i]);
            i = (size_t)-1;
        }
    if (!strncmp(s, "NO_ACCESS_CONTROL", strlen("NO_ACCESS_CONTROL")))
        *why = "NO_ACCESS_CONTROL would grant everyone full access";
    while (!*why && *s == '(') {
        struct span fields[FIELDS];
        const char *behind = read_fields(s, fields);
        if (!behind || ++entries > ENTRIES_MOST)
            *why = behind ? "an access list has more than 1,024 entries" : not_an_entry;
        else
            hr = read_entry(fields, audits, out, why);
        if (FAILED(hr))
            return hr;
        s = behind;
    }
    *at = s;
    return *why ? E_INVALIDARG : S_OK;
}

static const char *read_owner(const char **at, bool *has, struct sid *out)
{
    size_t n = 0;
    while ((isalnum((unsigned char)(*at)[n]) || (*at)[n] == '-') && (*at)[n + 1] != ':')
        n++;
    *has = sid_read(*at, n, out);
    *at += n;
    return *has ? NULL : unknown_account;
}

HRESULT sddl_read(const char *text, struct sddl *out, const char **why)
{
    const char *parts = "OGDS", *s = text;
    bool has_dacl = false;
    HRESULT hr = S_OK;
    *out = (struct sddl){0};
    *why = strlen(text) > TEXT_MOST ? "it is longer than 65,536 bytes" : NULL;
    while (SUCCEEDED(hr) && !*why && *s) {
        const char *part = strchr(parts, *s);
        if (!part || s[1] != ':') {
            *why = "expected the parts O:, G:, D: and S:, each at most once and in this order";
            break;
        }
        parts = part + 1;
        s += 2;
        if (*part == 'O')
            *why = read_owner(&s, &out->has_owner, &out->owner);
        else if (*part == 'G')
            *why = read_owner(&s, &out->has_group, &out->group);
        else
            hr = read_list(&s, *part == 'S', out, why);
        has_dacl = has_dacl || *part == 'D';
    }
    if (SUCCEEDED(hr) && !*why && !has_dacl)
        *why = "the part D: is missing, which would grant everyone full access";
    return *why ? E_INVALIDARG : hr;
}

void sddl_free(struct sddl *descriptor)
{
    memory_free(descriptor->entries);
    *descriptor = (struct sddl){0};
}
