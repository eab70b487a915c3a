// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** How much may be sent during a recovery, so that the window comes down evenly (RFC 9937). */
final class RateReduction {
    private int flightAtStart;
    private int delivered;
    private int sent;

    /** @param flight bytes that were sent, and not known to have arrived, before the acknowledgment that tells of the loss */
    void begin(int flight) {
        flightAtStart = Math.max(flight, 1);
        delivered = 0;
        sent = 0;
    }

    void sent(int bytes) {
        sent += bytes;
    }

    /**
     * What may be in the network, now that so many bytes more have arrived.
     *
     * @param safe whether the acknowledgment goes on, and tells of no further loss: then the window may catch up
     */
    int window(int bytes, int inFlight, int threshold, int segment, boolean safe) {
        delivered += bytes;
        int more = inFlight > threshold
                ? (int) (((long) delivered * threshold + flightAtStart - 1) / flightAtStart) - sent
                : Math.min(threshold - inFlight, Math.max(delivered - sent, bytes) + (safe ? segment : 0));
        return inFlight + Math.max(more, sent == 0 ? segment : 0);
    }
}
