// SPDX-License-Identifier: Apache-2.0
/**
 * Memory regions and windows: keys, rights and bounds, how a request reaches the memory of a peer, how memory is given to peers,
 * and how it is taken away while somebody may be inside.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.memory;
