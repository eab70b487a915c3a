// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.util.Random;

/**
 * Takes its numbers from the input of a fuzzer, so that tests with random input can be driven by one: as few bytes for
 * each number as it needs, since each further byte is one that the fuzzer has to guess. Zeros follow the input.
 */
public final class InputRandom extends Random {
    private static final long serialVersionUID = 1L;
    private final transient byte[] input;
    private int position;

    /** Numbers of this input. */
    public InputRandom(byte[] input) {
        super(0);
        this.input = input;
    }

    /** Whether all of the input has been used. */
    public boolean isOver() {
        return position >= input.length;
    }

    private long bytes(int count) {
        long value = 0;
        for (int i = 0; i < count; i++) {
            value = value << 8 | (isOver() ? 0 : input[position++] & 0xff);
        }
        return value;
    }

    @Override
    protected int next(int bits) {
        return (int) (bytes(bits + 7 >>> 3) & (1L << bits) - 1);
    }

    @Override
    public int nextInt() {
        return (int) bytes(Integer.BYTES);
    }

    @Override
    public int nextInt(int bound) {
        return (int) nextLong(bound);
    }

    @Override
    public long nextLong() {
        return bytes(Long.BYTES);
    }

    @Override
    public long nextLong(long bound) {
        int bits = Long.SIZE - Long.numberOfLeadingZeros(bound - 1);
        return Long.remainderUnsigned(bytes(bits + 7 >>> 3), bound);
    }

    @Override
    public boolean nextBoolean() {
        return bytes(1) != 0;
    }
}
