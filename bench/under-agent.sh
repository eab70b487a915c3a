# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For the scripts here: compiles a class of this folder and runs it under the agent, with the command's jars; builds those
# first. It may use the JDK's own channels beside Verbena's.
#
#   under_agent [JVM_OPTION…] CLASS [ARGUMENT…]
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
# shellcheck source=config/newest-jdk.sh
. "$root/config/newest-jdk.sh"

under_agent() {
    local class dist=$root/target/verbena/dist jdk classes options=()
    while [[ $1 == -* ]]; do
        options+=("$1")
        shift
    done
    class=$1
    shift
    if ! jdk=$(newest_jdk); then
        echo "$0: no JDK 25 or newer: install one under /usr/lib/jvm or point JAVA_HOME to it." >&2
        exit 1
    fi
    "$root/verbena" --version >/dev/null
    classes=$root/target/verbena/bench/$class
    mkdir -p "$classes"
    local exports=(--add-exports java.base/sun.nio.ch=ALL-UNNAMED)
    "$jdk/bin/javac" "${exports[@]}" -cp "$dist/lib/*" -sourcepath "$root/bench" -d "$classes" "$root/bench/$class.java"
    exec "$jdk/bin/java" -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED "${exports[@]}" "${options[@]}" \
        "-javaagent:$dist/agent/verbena-agent.jar" -cp "$classes:$dist/lib/*" "$class" "$@"
}
