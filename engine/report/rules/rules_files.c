/* SPDX-License-Identifier: MIT */
/* Where rules come from: files, and those that the program brings. */
#include "engine/report/rules.h"
#include "engine/report/rules/shipped_rules.h"

HRESULT rules_file_load(const char *name, const char *importer, struct schema_file *out)
{
    static const struct shipped_files rules = {"rules file", "pla/rules", shipped_rules};
    return shipped_file_load(&rules, name, importer, out);
}
