// SPDX-License-Identifier: Apache-2.0
/**
 * What lies in shared memory, a class for each structure and each word, and the memory files themselves: who writes, who reads,
 * what is trusted. Nothing here knows what it is used for. {@code docs/shm.md} draws it all.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.layout;
