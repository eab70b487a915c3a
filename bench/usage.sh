# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For the scripts here: their help, which is the comment at their top, before anything is built.

# help_if_asked SCRIPT [ARGUMENT…]: prints it and ends if one of the arguments asks for it.
help_if_asked() {
    local script=$1 argument
    shift
    for argument; do
        if [[ $argument == -h || $argument == --help ]]; then
            awk 'NR > 1 && !/SPDX-License-Identifier/ { if (!/^#( |$)/) exit; sub(/^# ?/, ""); print }' "$script"
            exit 0
        fi
    done
}

# wrong_argument SCRIPT ARGUMENT: ends with what is wrong.
wrong_argument() {
    printf "bench/%s: what is '%s'? Try 'bench/%s --help'.\n" "${1##*/}" "$2" "${1##*/}" >&2
    exit 2
}
