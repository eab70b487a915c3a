// SPDX-License-Identifier: Apache-2.0
/**
 * Receives that many requesters take from one queue, a shared receive queue: claims, the recovery of receives that will not be
 * used, and the sends into them.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.pool;
