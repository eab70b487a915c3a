// SPDX-License-Identifier: Apache-2.0
/**
 * JMH: what each call of shm0's data path costs one thread, and that none of them allocates.
 *
 * <p>Two queue pairs in this process are connected to each other and one thread drives both ends, so the figures show
 * instructions, not what a cache line costs on its way to another processor; for that there is {@code verbena perf} and
 * {@link org.verbena.bench.compare}.
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp 'verbena-bench/target/lib/*' org.openjdk.jmh.Main -prof gc
 * java --enable-native-access=ALL-UNNAMED -cp 'verbena-bench/target/lib/*' org.verbena.bench.jmh.AllocationCheck
 * </pre>
 */
package org.verbena.bench.jmh;
