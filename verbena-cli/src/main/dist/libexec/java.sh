# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Finds a JDK, and says how it starts the command. Sourced by bin/verbena and by the source tree's ./verbena.

fail() {
    printf 'verbena: %s\n' "$1" >&2
    exit 1
}

# Succeeds if $1 is the home of a JDK (compiler included) of version 25 or newer; sets found_version.
is_jdk() {
    local line
    found_version=
    [[ -x $1/bin/java && -x $1/bin/javac && -r $1/release ]] || return 1
    while IFS= read -r line; do
        if [[ $line =~ ^JAVA_VERSION=\"?([0-9]+) ]]; then
            found_version=${BASH_REMATCH[1]}
            break
        fi
    done <"$1/release"
    [[ -n $found_version ]] && ((found_version >= 25))
}

# Sets jdk: JAVA_HOME, then the java on PATH, then the newest under /usr/lib/jvm.
find_jdk() {
    local on_path dir best=0
    jdk=
    if [[ -n ${JAVA_HOME:-} ]] && is_jdk "$JAVA_HOME"; then
        jdk=$JAVA_HOME
        return
    fi
    if on_path=$(command -v java); then
        on_path=$(readlink -f -- "$on_path")
        dir=${on_path%/bin/java}
        if is_jdk "$dir"; then
            jdk=$dir
            return
        fi
    fi
    for dir in /usr/lib/jvm/*; do
        if is_jdk "$dir" && ((found_version > best)); then
            best=$found_version
            jdk=$dir
        fi
    done
    [[ -n $jdk ]] || fail "no JDK 25 or newer found: install one (for example the package openjdk-25-jdk-headless) or point JAVA_HOME to it."
}

# Sets options to those of the modules of the distribution $1. An archive is for just these.
set_options() {
    mapfile -t options <"$1/jvm.options"
    options=(--module-path "$1/lib" "${options[@]}")
}

# Makes the archive of the classes that a start of the distribution $1 loads, by this JDK: with it a start takes less time. Without
# it, if this fails, the command starts all the same. Class files of picocli have Java 5's format: an archive has such classes only
# as long as making it does not link them, as -XX:+AOTClassLinking would, and as some of the constants that a start resolves would.
make_archive() {
    local classes=$1/classes main=(--module org.verbena.cli/org.verbena.cli.Main devices)
    set_options "$1"
    timeout 60 "$jdk/bin/java" "${options[@]}" -XX:DumpLoadedClassList="$classes.loaded" "${main[@]}" &&
        grep -Ev '^@(cp|lambda-proxy) .*picocli|^@cp org/verbena/cli/' "$classes.loaded" >"$classes" &&
        timeout 60 "$jdk/bin/java" "${options[@]}" -Xshare:dump -XX:SharedClassListFile="$classes" \
            -XX:SharedArchiveFile="$classes.jsa" "${main[@]}" &&
        cp -- "$jdk/release" "$classes.release"
}
