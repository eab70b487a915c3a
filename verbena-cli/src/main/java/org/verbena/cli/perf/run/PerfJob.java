// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.Units;

/**
 * One test at one size.
 *
 * @param device name of the verbs device, or {@code "-"} for tests without one
 * @param inline messages up to this length are posted inline
 * @param qps number of queue pairs
 * @param events wait in the completion channel instead of spinning
 * @param consume the consumer reads every byte
 * @param verify the consumer compares every byte
 * @param connections TCP connections of a test of channels
 * @param ends the implementation of the channels
 * @param rate messages per second, or 0 to send one as soon as the one before is answered
 */
public record PerfJob(PerfTest test, long size, String device, int inline, int qps, boolean events, boolean consume,
        boolean verify, int connections, PerfEnds ends, long rate) {
    public static final String NO_DEVICE = "-";
    public static final int MAX_CONNECTIONS = 10_000;
    public static final int MAX_INLINE = 4096;
    public static final int MAX_QPS = 256;
    private static final long FOOTPRINT = 256 * 1024;
    private static final int MAX_SLOTS = 256;
    /**
     * The minimum if the target reads what was written: one is written while another is read, and neither side waits.
     */
    private static final int FOLLOWED_SLOTS = 4;
    /** Messages of a fixed rate that are in memory at a time: fewer than a stamp of one byte can tell apart. */
    private static final int MAX_PLACES = 64;
    private static final long UDP_BYTES = 64 * 1024;
    private static final long UDP_LEAST = 1024;

    /** One whose messages follow each other. */
    public PerfJob(PerfTest test, long size, String device, int inline, int qps, boolean events, boolean consume,
            boolean verify, int connections, PerfEnds ends) {
        this(test, size, device, inline, qps, events, consume, verify, connections, ends, 0);
    }

    /** The same at a rate. */
    public PerfJob at(long perSecond) {
        return new PerfJob(test, size, device, inline, qps, events, consume, verify, connections, ends, perSecond);
    }

    public String line() {
        return "test=" + test.title() + " size=" + size + " device=" + device + " inline=" + inline + " qps=" + qps
                + " events=" + bit(events) + " consume=" + bit(consume) + " verify=" + bit(verify) + " connections="
                + connections + " ends=" + ends.title() + " rate=" + rate;
    }

    public static PerfJob of(PerfFields f) throws CommandException {
        return new PerfJob(PerfTest.of(f.text("test")), f.number("size", 1, Units.MAX_SIZE), f.text("device"),
                (int) f.number("inline", 0, MAX_INLINE), (int) f.number("qps", 1, MAX_QPS), f.flag("events"),
                f.flag("consume"), f.flag("verify"), (int) f.number("connections", 1, MAX_CONNECTIONS),
                PerfEnds.of(f.text("ends")), f.number("rate", 0, PerfRates.MAX));
    }

    private static int bit(boolean b) {
        return b ? 1 : 0;
    }

    /** Distance of buffers: the size, rounded up to cache lines. */
    public long stride() {
        return (size + 63) & -64;
    }

    /**
     * The number of buffers that bandwidth tests rotate over: as many as fit into the cache of a core, and at least
     * two, or four.
     */
    public int slots() {
        int most = Math.clamp(FOOTPRINT / stride(), followed() || rate > 0 ? FOLLOWED_SLOTS : 2, MAX_SLOTS);
        return Math.max(most, 2 * qps);
    }

    /** The number of buffers that round trips rotate over, a power of two: several if several may be under way. */
    public int places() {
        return rate > 0 ? Integer.highestOneBit(Math.min(slots(), MAX_PLACES)) : 1;
    }

    /** How many datagrams of a fixed rate may be under way: as many as a receive buffer holds. */
    public int datagrams() {
        return Math.clamp(UDP_BYTES / Math.max(size, UDP_LEAST), 1, MAX_PLACES);
    }

    /** What a sweep of rates has in common. */
    public String series() {
        return test + " " + ends + " " + size + " " + connections;
    }

    /** The target of writes follows them message by message. */
    public boolean followed() {
        return consume || verify;
    }

    @Override
    public String toString() {
        return test.title() + " " + (test.isNio() || test.isStackTcp() ? ends + " " : "") + (rate > 0
                ? "at " + rate + "/s "
                : "") + size
                + (connections > 1 ? " over " + connections + " connections" : "");
    }
}
