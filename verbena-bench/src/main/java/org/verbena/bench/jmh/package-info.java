// SPDX-License-Identifier: Apache-2.0
/**
 * JMH: the cost of each call of shm0's data path in one thread, and a check that none of them allocates.
 *
 * <p>Two queue pairs in this process are connected to each other and one thread drives both ends, so the figures show
 * the cost of instructions, not that of moving a cache line to another processor; for that see {@code verbena perf} and
 * {@link org.verbena.bench.compare}.
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp 'verbena-bench/target/lib/*' org.openjdk.jmh.Main -prof gc
 * java --enable-native-access=ALL-UNNAMED -cp 'verbena-bench/target/lib/*' org.verbena.bench.jmh.AllocationCheck
 * </pre>
 */
package org.verbena.bench.jmh;
