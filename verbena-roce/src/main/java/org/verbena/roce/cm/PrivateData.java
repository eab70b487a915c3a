// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import java.util.Arrays;
import java.util.HexFormat;

/** Private data of a message, for the user of the connection manager. Immutable. */
public final class PrivateData {
    /** None. */
    public static final PrivateData NONE = new PrivateData(new byte[0]);

    private final byte[] bytes;

    private PrivateData(byte[] bytes) {
        this.bytes = bytes;
    }

    /** A copy of bytes. */
    public static PrivateData of(byte... bytes) {
        return new PrivateData(bytes.clone());
    }

    /** A copy of a range of bytes, truncated or filled with zeros if {@code bytes} ends before. */
    static PrivateData of(byte[] bytes, int from, int to) {
        return new PrivateData(Arrays.copyOfRange(bytes, from, to));
    }

    /** A copy. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** Their number. */
    public int length() {
        return bytes.length;
    }

    /** The bytes after the first {@code n}. */
    public PrivateData from(int n) {
        return new PrivateData(Arrays.copyOfRange(bytes, Math.min(n, bytes.length), bytes.length));
    }

    /** The first {@code n}, or all if there are fewer. */
    public PrivateData upTo(int n) {
        return new PrivateData(Arrays.copyOf(bytes, Math.min(n, bytes.length)));
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof PrivateData other && Arrays.equals(bytes, other.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
