// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

/** What brings datagrams that have arrived into receives. Used by the poller. */
interface DatagramTaker {
    /**
     * Completes the oldest receive with a datagram, unless there is none for it or it is too short: then nothing happens.
     *
     * @param data the datagram with its header, {@code length} bytes
     * @param limit how many receives had been posted when the datagram was sent, or more if it may have any
     */
    boolean takeDatagram(ShmCompletionQueue cq, long data, int length, int immediate, int flags, long timestamp,
            long limit, int source);
}
