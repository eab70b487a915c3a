// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

/** The options of a segment of TCP (RFC 9293, 3.2; RFC 7323; RFC 2018), which are read into one of these, or written. */
public final class TcpOptions {
    /** Blocks of SACK that fit in a header at most. */
    public static final int MOST_BLOCKS = 4;
    /** Bytes of timestamps, with what aligns them. */
    public static final int TIMESTAMPS_BYTES = 12;
    /** RFC 7323, 2.3. */
    public static final int MOST_SCALE = 14;

    private static final int END = 0;
    private static final int NO_OPERATION = 1;
    private static final int MAXIMUM_SEGMENT_SIZE = 2;
    private static final int WINDOW_SCALE = 3;
    private static final int SACK_PERMITTED = 4;
    private static final int SACK = 5;
    private static final int TIMESTAMPS = 8;
    /** RFC 2385. */
    private static final int MD5 = 19;
    /** RFC 5925. */
    private static final int AUTHENTICATION = 29;

    private final int[] left = new int[MOST_BLOCKS];
    private final int[] right = new int[MOST_BLOCKS];
    private int blocks;
    private int maximumSegmentSize;
    private int windowScale;
    private boolean sackPermitted;
    private boolean timestamps;
    private boolean signed;
    private int timestamp;
    private int echo;

    /** No option. */
    public TcpOptions() {}

    /** Reads the options of a header that was checked. What is behind one that has a wrong length, or reaches beyond the header, is not looked at. */
    public void read(MemorySegment m, long header, int headerBytes) {
        blocks = 0;
        maximumSegmentSize = 0;
        windowScale = -1;
        sackPermitted = false;
        timestamps = false;
        signed = false;
        long end = header + headerBytes;
        for (long i = header + TcpHeader.BYTES; i < end;) {
            int kind = Bytes.u8(m, i);
            if (kind == END) {
                return;
            }
            if (kind == NO_OPERATION) {
                i++;
                continue;
            }
            int length = i + 1 < end ? Bytes.u8(m, i + 1) : 0;
            if (length < 2 || length > end - i) {
                return;
            }
            read(kind, m, i, length);
            i += length;
        }
    }

    private void read(int kind, MemorySegment m, long at, int length) {
        switch (kind) {
            case MAXIMUM_SEGMENT_SIZE -> maximumSegmentSize = length == 4 ? Bytes.u16(m, at + 2) : maximumSegmentSize;
            case WINDOW_SCALE -> windowScale = length == 3
                    ? Math.min(Bytes.u8(m, at + 2), MOST_SCALE)
                    : windowScale;
            case SACK_PERMITTED -> sackPermitted |= length == 2;
            case SACK -> {
                for (int i = 2; i + 8 <= length && blocks < MOST_BLOCKS; i += 8) {
                    left[blocks] = Bytes.i32(m, at + i);
                    right[blocks++] = Bytes.i32(m, at + i + 4);
                }
            }
            case TIMESTAMPS -> {
                if (length == 10) {
                    timestamps = true;
                    timestamp = Bytes.i32(m, at + 2);
                    echo = Bytes.i32(m, at + 6);
                }
            }
            case MD5, AUTHENTICATION -> signed = true;
            default -> {} // RFC 9293, 3.1: others are to be ignored
        }
    }

    /** The longest segment that the sender takes, without headers; 0 if it says none. */
    public int maximumSegmentSize() {
        return maximumSegmentSize;
    }

    /** By how many bits windows of the sender are shifted; -1 if it does not scale. */
    public int windowScale() {
        return windowScale;
    }

    /** Whether the sender understands {@linkplain #blocks selective acknowledgments}. */
    public boolean isSackPermitted() {
        return sackPermitted;
    }

    /** Whether {@link #timestamp} and {@link #echo} are there. */
    public boolean hasTimestamps() {
        return timestamps;
    }

    /** The sender's clock. */
    public int timestamp() {
        return timestamp;
    }

    /** The clock of this end, as the sender heard it. */
    public int echo() {
        return echo;
    }

    /** Whether the segment has a signature (RFC 2385 or 5925), which needs a key. */
    public boolean isSigned() {
        return signed;
    }

    /** How many {@linkplain #left blocks} are selectively acknowledged. */
    public int blocks() {
        return blocks;
    }

    /** The first sequence number of a block. */
    public int left(int block) {
        return left[block];
    }

    /** The sequence number behind a block. */
    public int right(int block) {
        return right[block];
    }

    /** Writes the maximum segment size; answers where the next option goes. */
    public static long writeMaximumSegmentSize(MemorySegment m, long at, int bytes) {
        Bytes.put16(m, at, MAXIMUM_SEGMENT_SIZE << 8 | 4);
        Bytes.put16(m, at + 2, bytes);
        return at + 4;
    }

    /** Writes the window scale behind one byte that aligns it; answers where the next option goes. */
    public static long writeWindowScale(MemorySegment m, long at, int shift) {
        Bytes.put32(m, at, NO_OPERATION << 24 | WINDOW_SCALE << 16 | 3 << 8 | shift);
        return at + 4;
    }

    /** Writes that selective acknowledgments are understood, behind two bytes that align it; answers where the next option goes. */
    public static long writeSackPermitted(MemorySegment m, long at) {
        Bytes.put32(m, at, NO_OPERATION << 24 | NO_OPERATION << 16 | SACK_PERMITTED << 8 | 2);
        return at + 4;
    }

    /** Writes timestamps behind two bytes that align them; answers where the next option goes. */
    public static long writeTimestamps(MemorySegment m, long at, int timestamp, int echo) {
        Bytes.put32(m, at, NO_OPERATION << 24 | NO_OPERATION << 16 | TIMESTAMPS << 8 | 10);
        Bytes.put32(m, at + 4, timestamp);
        Bytes.put32(m, at + 8, echo);
        return at + TIMESTAMPS_BYTES;
    }

    /** Writes what is in front of so many blocks of SACK; answers where the first goes. */
    public static long writeSack(MemorySegment m, long at, int blocks) {
        Bytes.put32(m, at, NO_OPERATION << 24 | NO_OPERATION << 16 | SACK << 8 | 2 + 8 * blocks);
        return at + 4;
    }

    /** Writes a block of SACK; answers where the next goes. */
    public static long writeBlock(MemorySegment m, long at, int left, int right) {
        Bytes.put32(m, at, left);
        Bytes.put32(m, at + 4, right);
        return at + 8;
    }

    /** Bytes that so many blocks of SACK need. */
    public static int sackBytes(int blocks) {
        return blocks == 0 ? 0 : 4 + 8 * blocks;
    }
}
