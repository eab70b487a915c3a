// SPDX-License-Identifier: Apache-2.0
/**
 * Memory regions and windows: keys, rights and bounds, accesses of requests to the memory of a peer, sharing of memory with peers,
 * and its revocation while an initiator may be inside.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.memory;
