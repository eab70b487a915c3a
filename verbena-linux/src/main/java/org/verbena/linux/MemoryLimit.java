// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

/**
 * How much memory the processes that share a limit may have in all.
 *
 * @param bytes {@link Long#MAX_VALUE} if that cannot be found out
 * @param group directory of the control group that has the limit, one of this process or above it; empty if it is the
 *     machine's memory
 */
public record MemoryLimit(long bytes, String group) {}
