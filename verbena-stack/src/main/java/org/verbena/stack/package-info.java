// SPDX-License-Identifier: Apache-2.0
/**
 * IP and UDP in user space, over a device with queue pairs for raw packets: {@code tap_<name>}, or {@code xdp_<netdev>}, whose interface is then the
 * stack's alone. The host's own kernel is a host like others: it answers on the address that it has there, the stack on its own.
 */
package org.verbena.stack;
