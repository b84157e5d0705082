#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh [BIN [OUT]]: builds OUT/openpla-VERSION.msi and OUT/openpla-VERSION.zip from the programs in BIN
# (build/mingw/bin; OUT: build/msi). OPENPLA_MSI_VERSION overrides the version; OPENPLA_MSI_ONLY=1 omits the zip. The
# same programs give the same bytes: times are SOURCE_DATE_EPOCH, or the commit's time.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
here=$tree/installer/windows
bin=$(cd "${1:-$tree/build/mingw/bin}" && pwd)
mkdir -p "${2:-$tree/build/msi}"
out=$(cd "${2:-$tree/build/msi}" && pwd)
version=${OPENPLA_MSI_VERSION:-$(sed -n 's/^project(openpla VERSION \([0-9.]*\).*/\1/p' "$tree/CMakeLists.txt")}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$tree" log -1 --format=%ct 2>/dev/null || stat -c %Y "$tree/CMakeLists.txt")}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
. "$tree/installer/prefix.sh"

fail() {
    echo "build.sh: $*" >&2
    exit 1
}

# Tests may package programs with assertions.
# shellcheck disable=SC2154
[ -n "${OPENPLA_PACKAGE_OF_TESTS:-}" ] || ! has_assertions "$bin" ||
    fail "cannot pack '$bin': built for tests (cmake --preset mingw -DOPENPLA_ASSERTS=OFF && cmake --build --preset mingw)"

for tool in wixl:wixl cc:gcc msibuild:msitools python3:python3 x86_64-w64-mingw32-strip:binutils-mingw-w64-x86-64; do
    command -v "${tool%:*}" >/dev/null || fail "a package is missing: apt-get install ${tool#*:}"
done
name=openpla-$version
root=$out/$name
rm -rf "$root"
mkdir -p "$root/x86" "$root/docs" "$root/examples" "$root/registration"

# The programs, without debug information.
# shellcheck disable=SC2154 # of prefix.sh
for file in $installed_files $files_32; do
    case $file in
    x86/*) strip=i686-w64-mingw32-strip ;;
    *) strip=x86_64-w64-mingw32-strip ;;
    esac
    [ -e "$bin/$file" ] || { [ "$strip" = i686-w64-mingw32-strip ] && continue; } || fail "$bin/$file is missing: build first"
    "$strip" --strip-debug --enable-deterministic-archives -o "$root/$file" "$bin/$file"
done
rmdir "$root/x86" 2>/dev/null || true
cp "$bin/$installed_data" "$root/"
# LICENSE.txt has our license, then the copyrights of the linked libraries, then Apache 2.0. If a copyright refers to a
# license without its text, that is our license or Apache 2.0.
{
    cat "$tree/LICENSE"
    echo
    sed -n '/^Files: libxml2/,$p' "$tree/installer/deb/copyright.in" | sed '$d'
    cat "$tree/installer/apache-2.0.txt"
} >"$root/LICENSE.txt"
cp "$tree/README.md" "$root/"
for folder in user developer reference; do cp -R "$tree/docs/$folder" "$root/docs/$folder"; done
find "$tree/examples" -maxdepth 1 -type f ! -name CMakeLists.txt -exec cp {} "$root/examples/" \;
rm -rf "$out/registration"
sh "$tree/reg/forms/build.sh" "$out/registration"
for file in "$out"/registration/*; do
    [ "${file%.wxi}" != "$file" ] || cp "$file" "$root/registration/"
done
cp "$tree/installer/firewall.vbs" "$root/registration/"
cp "$tree/installer/stop-sets.vbs" "$root/"
find "$root" -type f -exec chmod 0644 {} +
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

python3 "$here/parts.py" "$root" "$version" "$out/registration" >"$out/$name.wxs"
msi=$out/$name.msi
rm -f "$msi"
(cd "$root" && wixl -a x64 -o "$msi" "$out/$name.wxs")
# These rows are added because wixl cannot express them. wixl makes rollback actions immediate. Type 3410 is a program
# of the package (18) that runs during rollback (1024, 256), as the system (2048), and whose failure is ignored (64).
msibuild "$msi" -i "$here/DrLocator.idt" -i "$here/Signature.idt"
msibuild "$msi" \
    -q "INSERT INTO AppSearch (Property, Signature_) VALUES ('WINE', 'wine')" \
    -q "INSERT INTO InstallExecuteSequence (Action, Condition, Sequence) VALUES ('InstallExecute', 'WIX_UPGRADE_DETECTED OR REMOVE=\"ALL\"', 1505)" \
    -q "UPDATE InstallExecuteSequence SET Sequence=1506 WHERE Action='RemoveExistingProducts'" \
    -q "UPDATE CustomAction SET Type=3410 WHERE Action='UnregisterBack'" \
    -q "UPDATE CustomAction SET Type=3410 WHERE Action='RegisterBack'" \
    -q "UPDATE Component SET Condition='MODE=\"beside\"' WHERE Component='registration'" \
    -q "INSERT INTO CustomAction (Action, Type, Source, Target) VALUES ('Purge', 3170, 'TARGETDIR', '[System64Folder]cmd.exe /c rd /s /q \"[CommonAppDataFolder]OpenPLA\"')" \
    -q "INSERT INTO InstallExecuteSequence (Action, Condition, Sequence) VALUES ('Purge', 'PURGE=1 AND REMOVE=\"ALL\" AND NOT UPGRADINGPRODUCTCODE', 3600)"
[ ! -d "$root/x86" ] ||
    msibuild "$msi" -q "UPDATE Component SET Condition='MODE=\"beside\"' WHERE Component='registration32'"
python3 "$here/parts.py" --settle "$msi"

rm -f "$out/$name.zip"
if [ "${OPENPLA_MSI_ONLY:-0}" != 1 ]; then
    cp "$tree/installer/install.vbs" "$root/"
    python3 "$here/parts.py" --zip "$root" "$out/$name.zip"
fi
rm -rf "$root" "$out/registration" "$out/$name.wxs"
stat -c "%n %s bytes" "$out/$name".*
