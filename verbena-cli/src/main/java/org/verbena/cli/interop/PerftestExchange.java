// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.PeerException;

/**
 * The messages between the two ends of perftest. Each exchange has the same length in both directions; the client sends
 * first.
 */
final class PerftestExchange implements AutoCloseable {
    /** The version of the protocol; perftest 4.5 sends this one, and accepts all from 5.70. */
    private static final String VERSION = "6.06";
    private static final double OLDEST = 5.70;
    private static final int VERSION_BYTES = 16;
    private static final int MTU_BYTES = 2;

    private final PerftestLink link;

    PerftestExchange(PerftestLink link) {
        this.link = link;
    }

    /** Exchanges versions; a peer that is too old to be understood is refused. */
    void versions() throws IOException {
        byte[] own = Arrays.copyOf(VERSION.getBytes(StandardCharsets.US_ASCII), VERSION_BYTES);
        String remote = text(link.exchange(own));
        try {
            if (Double.parseDouble(remote) < OLDEST) {
                throw new PeerException("the peer has version " + remote + " of perftest's protocol; 5.70 or newer is"
                        + " needed");
            }
        } catch (NumberFormatException e) {
            throw new PeerException("the peer is none of perftest: its version is '" + HumanText.printable(remote)
                    + "'", e);
        }
    }

    /** The larger of the two ends' numbers. */
    int largest(int own, int limit, String what) throws IOException {
        int remote = ByteBuffer.wrap(link.exchange(ByteBuffer.allocate(Integer.BYTES).putInt(own).array())).getInt();
        if (remote < 0 || remote > limit) {
            throw new PeerException("the peer's " + what + " is " + Integer.toUnsignedString(remote) + ", and "
                    + limit + " is the most that is understood");
        }
        return Math.max(own, remote);
    }

    /** The smaller of the two ends' path MTUs, in bytes. */
    int mtu(int own) throws IOException {
        int code = Integer.numberOfTrailingZeros(own) - 7;
        String remote = text(link.exchange(Arrays.copyOf(Integer.toString(code).getBytes(StandardCharsets.US_ASCII),
                MTU_BYTES)));
        if (!remote.matches("[1-5]")) {
            throw new PeerException("the peer is none of perftest: its MTU is '" + HumanText.printable(remote) + "'");
        }
        return Math.min(own, 128 << Integer.parseInt(remote));
    }

    /** Exchanges the address of a queue pair, which also tells that this end is ready; returns that of the peer. */
    PerftestAddress addresses(PerftestAddress own) throws IOException {
        return link.exchange(own);
    }

    /** Exchanges the results of bandwidth tests; returns those of the peer. */
    PerftestReport reports(PerftestReport own) throws IOException {
        long size = number(own.size());
        long iterations = number(own.iterations());
        double peak = number(own.peak());
        double average = number(own.average());
        return new PerftestReport(size, iterations, peak, average, number(own.messages()));
    }

    private double number(double own) throws IOException {
        return Double.longBitsToDouble(number(Double.doubleToRawLongBits(own)));
    }

    private long number(long own) throws IOException {
        return ByteBuffer.wrap(link.exchange(ByteBuffer.allocate(Long.BYTES).putLong(own).array())).getLong();
    }

    /** See {@link PerftestLink#end}. */
    void end(boolean agreed) throws IOException {
        link.end(agreed);
    }

    private static String text(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        int end = text.indexOf('\0');
        return end < 0 ? text : text.substring(0, end);
    }

    @Override
    public void close() throws IOException {
        link.close();
    }
}
