// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** RFC 9438. Windows here are of segments, as there. */
final class Cubic extends CongestionControl {
    private static final double C = 0.4;
    private static final double BETA = 0.7;
    /** RFC 9438, 4.3: grows as Reno does on average. */
    private static final double RENO_GROWTH = 3 * (1 - BETA) / (1 + BETA);

    private static final long LEAST_PAUSE = 10_000_000;

    private double lastMost;
    /** In seconds from the begin of the epoch until the window is the last most again. */
    private double plateau;
    private long epoch;
    private boolean epochRuns;
    private long last;
    private double reno;
    /** Parts of a segment that the window is to grow by. */
    private double rest;

    @Override
    public String name() {
        return "cubic";
    }

    @Override
    void avoid(int bytes, RoundTrip roundTrip, long now) {
        double w = Math.max((double) window / segment, 1); // a recovery may have left less
        if (!epochRuns) {
            epochRuns = true;
            epoch = now;
            last = now;
            reno = w;
            if (w < lastMost) {
                plateau = Math.cbrt((lastMost - w) / C);
            } else {
                plateau = 0;
                lastMost = w;
            }
        }
        long quiet = now - last;
        last = now;
        if (quiet > Math.max(2 * roundTrip.smoothed(), LEAST_PAUSE)) { // the sender had less to send than it might (RFC 9438, 5.8)
            epoch += Math.min(quiet, now - epoch);
        }
        double acked = (double) bytes / segment;
        double t = (now - epoch + roundTrip.smoothed()) / 1e9;
        double target = Math.clamp(C * cube(t - plateau) + lastMost, w, 1.5 * w);
        reno += (reno >= lastMost ? 1 : RENO_GROWTH) * acked / w;
        rest += reno > target ? Math.max(reno - w, 0) : (target - w) / w * acked;
        int n = (int) rest;
        if (n > 0) {
            rest -= n;
            grow((long) n * segment);
        }
    }

    private static double cube(double x) {
        return x * x * x;
    }

    @Override
    void lost(int inFlight, long now) {
        double w = (double) window / segment;
        lastMost = w < lastMost ? w * (1 + BETA) / 2 : w; // fast convergence
        threshold = Math.max((int) (Math.min(inFlight, window) * BETA), 2 * segment);
        epochRuns = false;
        rest = 0;
    }

    @Override
    void restart() {
        super.restart();
        epochRuns = false;
    }
}
