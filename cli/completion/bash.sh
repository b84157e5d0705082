# SPDX-License-Identifier: MIT
# Adds those of the given words that begin with the typed word, ignoring case.
_openpla_add()
{
    local found
    for found in "$@"; do
        if [[ ${found,,} == "${word,,}"* ]]; then COMPREPLY+=("$found"); fi
    done
}
# Adds the names of the stored sets. They are stored in OPENPLA_DATA. If it is not set: in the package's prefix, in
# WINEPREFIX, and in the folder of the native build. The file name of a set is its name, with some characters as %XX.
_openpla_sets()
{
    local file name data
    local -a places=("${OPENPLA_PREFIX:-${XDG_DATA_HOME:-$HOME/.local/share}/openpla/prefix}/drive_c/ProgramData/OpenPLA"
        "${WINEPREFIX:-$HOME/.wine}/drive_c/ProgramData/OpenPLA" "$HOME/.openpla")
    if [[ $OPENPLA_DATA == /* ]]; then places=("$OPENPLA_DATA"); fi
    for data in "${places[@]}"; do
        for file in "$data"/sets/Service/*/*.xml; do
            name=${file##*/}
            name=${name%.xml}
            if [[ -e $file && $name != %~* ]]; then
                printf -v name %b "${name//%/\\x}"
                printf -v name %q "$name"
                _openpla_add "$name"
            fi
        done
    done
}
_openpla()
{
    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[0]##*/} sub= verbs= options= values= fixed= i=1
    local before=${COMP_WORDS[COMP_CWORD - 1],,} one
    COMPREPLY=()
    verb=${verb%.exe}
    if [[ $verb == openpla ]]; then
        if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1],,} == help ]]; then i=2; fi
        if ((COMP_CWORD == i)); then
            COMPREPLY=($(compgen -W "help $_openpla_verbs" -- "$word"))
            return
        fi
        verb=${COMP_WORDS[i]}
        i=$((i + 1))
    fi
    _openpla_table "${verb,,}"
    for (( ; i < COMP_CWORD; i++)); do
        [[ " $verbs " == *" ${COMP_WORDS[i],,} "* ]] || continue
        sub="$sub ${COMP_WORDS[i],,}"
        verbs=
        _openpla_table "${verb,,}$sub"
    done
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif [[ " $values " != *" $before "* ]]; then
        COMPREPLY=($(compgen -W "$verbs" -- "$word"))
        if [[ ${verb,,}$sub =~ ^logman\ (delete|export|query|start|stop|update)$ ]]; then _openpla_sets; fi
    else
        for one in $fixed; do
            if [[ $one == "$before="* ]]; then one=${one#*=}; _openpla_add ${one//|/ }; fi
        done
    fi
    # If nothing was added, bash completes file names. Values that are not listed are completed in this way too.
}
complete -o default -F _openpla @TOOLS@
