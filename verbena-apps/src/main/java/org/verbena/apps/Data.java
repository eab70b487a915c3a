// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.SplittableRandom;

/** Bytes derived from a seed, and hashes. */
public final class Data {
    private static final int PIECE = 64 << 10;

    private Data() {}

    /** {@code size} bytes of {@code seed}. */
    public static byte[] bytes(long seed, int size) {
        byte[] b = new byte[size];
        new SplittableRandom(seed).nextBytes(b);
        return b;
    }

    /** SHA-256, which every JVM has. */
    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The hash so far, in hexadecimal; the digest is reset. */
    public static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }

    /** The hash of an array. */
    public static String hash(byte[] bytes) {
        MessageDigest d = digest();
        d.update(bytes);
        return hex(d);
    }

    /** The hash of the whole stream. */
    public static String hash(InputStream in) throws IOException {
        MessageDigest d = digest();
        byte[] piece = new byte[PIECE];
        int n;
        while ((n = in.read(piece)) >= 0) {
            d.update(piece, 0, n);
        }
        return hex(d);
    }
}
