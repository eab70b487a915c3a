// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.HashSet;
import java.util.Set;

/** The bytes that scripts leave to the interpreter: each says at which sequence number of the script it is. */
final class Stream {
    private static final int FACTOR = 0x9e3779b1;

    private final Set<Integer> users = new HashSet<>();
    private long position;
    private boolean known = true;

    /** Bytes from a sequence number on. */
    static byte[] bytes(long sequence, int length) {
        byte[] b = new byte[length];
        for (int i = 0; i < length; i++) {
            b[i] = (byte) ((int) (sequence + i) * FACTOR >>> 24);
        }
        return b;
    }

    /** The sequence number that the next byte has, of one socket; the first is at that number. */
    long next(int socket, long first) {
        if (users.add(socket)) {
            position = first;
        }
        return position;
    }

    void passed(int bytes) {
        position += bytes;
    }

    /** Bytes go by that are not from here. */
    void forget() {
        known = false;
    }

    /** Whether the bytes are known: not if several sockets share the stream. */
    boolean known() {
        return known && users.size() < 2;
    }
}
