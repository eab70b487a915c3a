// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

/**
 * The memory limit of the processes that share it.
 *
 * @param bytes {@link Long#MAX_VALUE} if it cannot be determined
 * @param group directory of the control group that has the limit, one of this process or an ancestor; empty if it is
 *        the machine's memory
 */
public record MemoryLimit(long bytes, String group) {}
