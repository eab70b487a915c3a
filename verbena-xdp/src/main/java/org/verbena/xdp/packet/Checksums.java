// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.packet;

import java.lang.foreign.MemorySegment;

import org.verbena.verbs.spi.InternetSum;

/**
 * Checks the checksums of received frames, and writes those of frames to send. A frame may lie in several pieces of one
 * memory; its headers are in the first. One object for one thread; nothing allocates.
 */
public final class Checksums {
    /** No packet that has checksums here: not IP, neither TCP nor UDP, a fragment, or malformed. */
    public static final int NONE = 0;
    /** All are right. */
    public static final int RIGHT = 1;
    /** The field has the sum of the pseudo-header alone: a sender on this host left the rest to hardware. */
    public static final int PARTIAL = 2;
    /** One is wrong. */
    public static final int WRONG = 3;

    private final Headers headers = new Headers();
    private long sum;
    private int left;
    private boolean odd;
    /** Bytes before those that are summed. */
    private int skip;

    /** For use again and again. */
    public Checksums() {}

    /**
     * Begins to check a frame.
     *
     * @param at where it begins
     * @param available bytes in its first piece
     * @param total bytes of all
     * @param partial whether the sum of the pseudo-header counts as {@link #PARTIAL}
     * @return what is known already, or -1: then all pieces have to be {@linkplain #add added}
     */
    public int begin(MemorySegment memory, long at, int available, int total, boolean partial) {
        if (!headers.read(memory, at, available, total)) {
            return NONE;
        }
        if (!headers.isNetworkSumRight()) {
            return WRONG;
        }
        int field = headers.checksum();
        if (field == 0 && headers.isUdp()) {
            return RIGHT; // there is none, RFC 768
        }
        long pseudo = headers.pseudoSum();
        if (partial && field == InternetSum.fold(pseudo)) {
            return PARTIAL;
        }
        sum = pseudo;
        left = headers.transportLength();
        odd = false;
        skip = headers.transport();
        return -1;
    }

    /** Adds the next piece of the frame. */
    public void add(MemorySegment memory, long at, int length) {
        int before = Math.min(skip, length);
        skip -= before;
        int n = Math.min(left, length - before);
        long piece = InternetSum.of(memory, at + before, n);
        sum += odd ? InternetSum.shifted(piece) : piece;
        odd ^= (n & 1) != 0;
        left -= n;
    }

    /** What came out when all pieces were added. */
    public int end() {
        return left == 0 && InternetSum.fold(sum) == 0xffff ? RIGHT : WRONG;
    }

    /**
     * Writes the IPv4 header's checksum, and the sum of the pseudo-header into the field of TCP or UDP.
     *
     * @return false for a frame that has neither: nothing was written
     */
    public boolean prepare(MemorySegment memory, long at, int available, int total) {
        if (!headers.read(memory, at, available, total)) {
            return false;
        }
        headers.setNetworkSum();
        headers.setChecksum(InternetSum.fold(headers.pseudoSum()));
        return true;
    }

    /** After {@link #prepare}: where the bytes to be summed begin. */
    public int start() {
        return headers.transport();
    }

    /** After {@link #prepare}: where the field is from there. */
    public int offset() {
        return headers.checksumOffset();
    }

    /** After {@link #prepare}: computes the rest, for which all pieces are {@linkplain #add added} before {@link #write}. */
    public void beginSum() {
        sum = 0; // the pseudo-header's sum is in the field
        left = headers.transportLength();
        odd = false;
        skip = headers.transport();
    }

    /** Writes the sum of the pieces. */
    public void write() {
        int field = ~InternetSum.fold(sum) & 0xffff;
        headers.setChecksum(field == 0 ? 0xffff : field); // 0 says that there is none, RFC 768; both are equal to TCP
    }
}
