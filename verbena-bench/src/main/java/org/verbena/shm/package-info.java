// SPDX-License-Identifier: Apache-2.0
/**
 * jcstress tests of shm0's shared memory, on the provider's own classes. Much of those is package-private, and everything here
 * runs on the class path, so the tests stand in the provider's packages instead of making them larger for their sake.
 *
 * <p>Primitives are tested alone: lanes ({@link org.verbena.shm.ring.LaneStress}), send completions
 * ({@link org.verbena.shm.completion.SendCompletionsStress}), hazards ({@link org.verbena.shm.HazardStress}). What needs a
 * connection takes a pair of real queue pairs from {@link org.verbena.shm.StressPairs}: credits and flushing
 * ({@link org.verbena.shm.PostedStress}), the claims of the send queue ({@link org.verbena.shm.SendQueueStress}), the
 * starving word ({@link org.verbena.shm.StarvingStress}), arming ({@link org.verbena.shm.ArmStress}), reset
 * ({@link org.verbena.shm.ResetStress}), memory windows ({@link org.verbena.shm.WindowStress}). Where an engine would hide a lost wake-up by its next tick, the engines are
 * held.
 *
 * <p>States are not free, so jcstress must not keep thousands of them: run with {@code -strideSize 16 -strideCount 8}
 * as {@code .ci/run} does. {@code -sc true} (each actor compiled in its own way) finds most:
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp 'verbena-bench/target/lib/*' org.openjdk.jcstress.Main \
 *     -t '^org\.verbena\.shm\.' -strideSize 16 -strideCount 8 -jvmArgs --enable-native-access=ALL-UNNAMED -sc true
 * </pre>
 */
package org.verbena.shm;
