// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** RFC 5681, with appropriate byte counting (RFC 3465). */
final class NewReno extends CongestionControl {
    private int counted;

    @Override
    public String name() {
        return "reno";
    }

    @Override
    void avoid(int bytes, RoundTrip roundTrip, long now) {
        counted += bytes;
        while (counted >= window) {
            counted -= window;
            grow(segment);
        }
    }

    @Override
    void lost(int inFlight, long now) {
        threshold = Math.max(inFlight / 2, 2 * segment);
        counted = 0;
    }
}
