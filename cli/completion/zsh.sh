# SPDX-License-Identifier: MIT
# Adds the names of the stored sets. They are stored in OPENPLA_DATA. If it is not set: in the package's prefix, in
# WINEPREFIX, and in the folder of the native build. The file name of a set is its name, with some characters as %XX.
_openpla_sets()
{
    local data file name
    local -a places names
    places=("${OPENPLA_PREFIX:-${XDG_DATA_HOME:-$HOME/.local/share}/openpla/prefix}/drive_c/ProgramData/OpenPLA"
        "${WINEPREFIX:-$HOME/.wine}/drive_c/ProgramData/OpenPLA" "$HOME/.openpla")
    if [[ $OPENPLA_DATA == /* ]]; then places=("$OPENPLA_DATA"); fi
    for data in "${places[@]}"; do
        for file in "$data"/sets/Service/*/*.xml(N); do
            name=${${file:t}%.xml}
            if [[ $name != %~* ]]; then names+=("$(printf %b "${name//\%/\\x}")"); fi
        done
    done
    compadd -M 'm:{a-zA-Z}={A-Za-z}' -- "${names[@]}"
}
_openpla()
{
    emulate -L zsh
    local verb=${words[1]:t} sub= verbs= options= values= fixed= i=2 one before=${words[CURRENT - 1]:l}
    verb=${verb%.exe}
    if [[ $verb == openpla ]]; then
        if ((CURRENT > 2)) && [[ ${words[2]:l} == help ]]; then i=3; fi
        if ((CURRENT == i)); then
            local -a all=('help:shows the help of a verb' "${_openpla_summaries[@]}")
            _describe -t verbs verb all
            return
        fi
        verb=${words[i]}
        i=$((i + 1))
    fi
    _openpla_table "${verb:l}"
    for (( ; i < CURRENT; i++)); do
        if [[ " $verbs " == *" ${words[i]:l} "* ]]; then
            sub="$sub ${words[i]:l}"
            verbs=
            _openpla_table "${verb:l}$sub"
        fi
    done
    if [[ $PREFIX == -* ]]; then
        compadd -M 'm:{a-zA-Z}={A-Za-z}' -- ${=options}
    elif [[ " $values " != *" $before "* ]]; then
        compadd -M 'm:{a-zA-Z}={A-Za-z}' -- ${=verbs}
        if [[ "${verb:l}$sub" =~ '^logman (delete|export|query|start|stop|update)$' ]]; then _openpla_sets; fi
        _files
    else
        for one in ${=fixed}; do
            if [[ $one == "$before="* ]]; then
                one=${one#*=}
                compadd -M 'm:{a-zA-Z}={A-Za-z}' -- ${(s:|:)one}
                return
            fi
        done
        _files
    fi
}
# If this file is in fpath, zsh calls it for the first completion. Otherwise the user sources it.
if [[ ${funcstack[1]} == _openpla ]]; then
    _openpla "$@"
else
    compdef _openpla @TOOLS@
fi
