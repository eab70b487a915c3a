// SPDX-License-Identifier: Apache-2.0
/**
 * A host whose addresses, routes, neighbours and groups are the kernel's on one interface: what the stack does there, the kernel would do, too. All of it is asked
 * for and followed by netlink. Under the lock of the stack.
 */
package org.verbena.stack.kernel;
