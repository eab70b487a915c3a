# SPDX-License-Identifier: Apache-2.0
# For scripts of this tree, to be sourced. ./verbena has a search of its own: there the java of PATH comes before others.
# shellcheck shell=bash

# Prints the home of the newest JDK (compiler included) of version 25 or newer: JAVA_HOME or one under /usr/lib/jvm.
# Fails, and prints nothing, if there is none.
newest_jdk() {
    local dir version best=24 found=
    for dir in "${JAVA_HOME:-/nonexistent}" /usr/lib/jvm/*; do
        [[ -x $dir/bin/javac && -r $dir/release ]] || continue
        version=$(sed -n 's/^JAVA_VERSION="\{0,1\}\([0-9]*\).*/\1/p' "$dir/release")
        if ((${version:-0} > best)); then
            best=$version
            found=$dir
        fi
    done
    [[ -n $found ]] && printf '%s\n' "$found"
}
