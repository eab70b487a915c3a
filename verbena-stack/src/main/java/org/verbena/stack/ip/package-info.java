// SPDX-License-Identifier: Apache-2.0
/**
 * IPv4 on one interface with an address of its own: ARP, fragments, ICMP. All of it is used by one thread at a time, which holds the stack's
 * lock. Times are nanoseconds of a clock that is given, so that tests run in virtual time.
 */
package org.verbena.stack.ip;
