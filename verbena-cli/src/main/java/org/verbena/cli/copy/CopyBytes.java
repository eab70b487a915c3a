// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.util.Arrays;
import java.util.HexFormat;

import org.verbena.cli.support.HumanText;

/** An immutable string of bytes: a path in the form of the kernel, a hash, a boot identifier. */
final class CopyBytes {
    private final byte[] bytes;

    private CopyBytes(byte[] bytes) {
        this.bytes = bytes;
    }

    static CopyBytes of(byte[] bytes) {
        return new CopyBytes(bytes.clone());
    }

    byte[] bytes() {
        return bytes.clone();
    }

    int length() {
        return bytes.length;
    }

    byte at(int index) {
        return bytes[index];
    }

    CopyBytes slice(int from, int to) {
        return new CopyBytes(Arrays.copyOfRange(bytes, from, to));
    }

    /** Lower-case hexadecimal digits. */
    String hex() {
        return HexFormat.of().formatHex(bytes);
    }

    /** For people; see {@link HumanText#printable(byte[])}. */
    @Override
    public String toString() {
        return HumanText.printable(bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CopyBytes b && Arrays.equals(bytes, b.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }
}
