# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Builds what a benchmark needs, unless that is newer than its sources. To be sourced.

# build_if_needed NAME TARGET SOURCE… -- MAVEN-ARGUMENT…; takes the variables root and jdk.
build_if_needed() {
    local name=$1 target=$2
    local -a sources=()
    shift 2
    while [[ $1 != -- ]]; do
        sources+=("$1")
        shift
    done
    shift
    mkdir -p -- "$target"
    exec 9>"$target/lock"
    if ! flock -n 9; then
        echo "$name: waiting for another build of the same tree…" >&2
        flock 9
    fi
    if [[ ! -e $target/stamp || -n $(find "${sources[@]}" -newer "$target/stamp" -print -quit) ]]; then
        echo "$name: building…" >&2
        touch "$target/began"
        if ! (cd -- "$root" && JAVA_HOME=$jdk mvn -B -ntp -Dfast "$@") >"$target/build.log" 2>&1 9>&-; then
            grep '^\[ERROR\]' "$target/build.log" | head -n 15 >&2 || tail -n 20 "$target/build.log" >&2
            echo "$name: the build failed; the whole log is $target/build.log" >&2
            exit 1
        fi
        mv -f "$target/began" "$target/stamp"
        sleep 5 # let the machine come to rest
    fi
    exec 9>&-
}
