// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

/**
 * What one connection has come to, and how it stands. Of a connection in use each number is of some moment of the call.
 *
 * @param sentByRing bytes written that a ring carried
 * @param sentByTcp bytes written that TCP carried
 * @param receivedByRing bytes read that a ring carried
 * @param receivedByTcp bytes taken from TCP; the program may not have read the last of them
 * @param doorbells times this end woke the peer
 * @param wakeUps times this end took a doorbell of the peer's
 * @param stalls writes that found the ring full
 * @param ringGrowths times a ring was replaced by a larger one, in either direction
 * @param sendRing size of the ring that goes out, in bytes; 0 if TCP carries that direction
 * @param sendRingUsed bytes in it that the peer has not read, as far as is known here
 * @param receiveRing size of the ring that comes in, in bytes; 0 if TCP carries that direction
 * @param receiveRingUsed bytes in it that the program has not read
 */
public record SocketStatistics(long sentByRing, long sentByTcp, long receivedByRing, long receivedByTcp, long doorbells,
        long wakeUps, long stalls, long ringGrowths, int sendRing, long sendRingUsed, int receiveRing,
        long receiveRingUsed) {}
