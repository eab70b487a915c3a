// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import org.openjdk.jmh.annotations.Fork;

/** {@link RocePath} where the threads of the contexts do everything, and polls only read the completion queues. */
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
    "-XX:+UseSerialGC", "-Dverbena.roce.progress=engine"})
public class RoceEnginePath extends RocePath {}
