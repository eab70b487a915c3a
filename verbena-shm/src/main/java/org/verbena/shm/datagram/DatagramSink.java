// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

/** Receives into which datagrams that have arrived are copied. Used by the poller. */
public interface DatagramSink {
    /**
     * Completes the oldest receive with a datagram, in the cursor of its completion queue; false, without effect, if there is no receive or it is too short.
     *
     * @param data the datagram with its header, {@code length} bytes
     * @param limit number of receives that had been posted when the datagram was sent, or more if it may have any
     */
    boolean takeDatagram(long data, int length, int immediate, int flags, long timestamp, long limit, int source);
}
