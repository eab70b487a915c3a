// SPDX-License-Identifier: Apache-2.0
/**
 * TCP (RFC 9293): {@link org.verbena.stack.tcp.TcpPorts} has all connections of an address and gives segments to {@link org.verbena.stack.tcp.Connection}s, whose
 * parts are one to a concern: {@code Receiver}, {@code Sender}, {@code Recovery}, {@code CongestionControl}, {@code Timers}. Time, randomness and the
 * wire are parameters; one thread at a time.
 */
package org.verbena.stack.tcp;
