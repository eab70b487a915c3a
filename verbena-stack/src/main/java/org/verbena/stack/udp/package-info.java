// SPDX-License-Identifier: Apache-2.0
/** UDP (RFC 768, RFC 1122, 4.1): ports and what waits at them. Used by one thread at a time, which holds the stack's lock. */
package org.verbena.stack.udp;
