// SPDX-License-Identifier: Apache-2.0
/**
 * Counters of objects, which other processes read: of the send side and the receive side of a queue pair, and of a region of memory.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.counts;
