// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** How much may be sent during a recovery, so that the window comes down evenly (RFC 6937, with its slow start reduction bound). */
final class RateReduction {
    private int flightAtStart;
    private int delivered;
    private int sent;

    void begin(int flight) {
        flightAtStart = Math.max(flight, 1);
        delivered = 0;
        sent = 0;
    }

    void sent(int bytes) {
        sent += bytes;
    }

    /** What may be in the network, now that so many bytes more have arrived. */
    int window(int bytes, int inFlight, int threshold, int segment) {
        delivered += bytes;
        int more = inFlight > threshold
                ? (int) (((long) delivered * threshold + flightAtStart - 1) / flightAtStart) - sent
                : Math.min(threshold - inFlight, Math.max(delivered - sent, bytes) + segment);
        return inFlight + Math.max(more, sent == 0 ? segment : 0);
    }
}
