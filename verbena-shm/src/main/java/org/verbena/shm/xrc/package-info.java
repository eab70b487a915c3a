// SPDX-License-Identifier: Apache-2.0
/**
 * Extended reliable connections: domains, queue pairs of type XRC_RECV of this process or another, and the shared receive queues
 * that requests name.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.xrc;
