// SPDX-License-Identifier: Apache-2.0
/**
 * The layout of shared memory, a class for each structure and each word, and the memory files themselves: writers, readers,
 * and what is trusted. Nothing here depends on its use. {@code docs/shm.md} draws it all.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.layout;
