// SPDX-License-Identifier: Apache-2.0
/**
 * Queue pairs of type UD: a ring from each sender to each destination, the executor that writes into them, the receiver that reads
 * them in turn, and multicast groups.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.datagram;
