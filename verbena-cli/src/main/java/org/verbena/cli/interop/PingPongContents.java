// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.cli.support.PeerException;
import org.verbena.linux.Sys;

/**
 * The contents of the messages. The programs in C fill their memory with one byte; a client that checks begins each
 * page of it with 0, which is what a server that checks looks for. Both kinds of server send back what they received.
 * So a client here fills the rest with a pattern that differs in each message, and compares the reply with it.
 */
final class PingPongContents {
    private static final byte FILL = 0x7b;
    private static final int STAMP = 8;

    private final MemorySegment received;
    private final MemorySegment sent;
    private final boolean stamped;
    private final int page = Sys.pageSize();

    /** @param stamped each message differs; not where messages share a buffer */
    PingPongContents(MemorySegment received, MemorySegment sent, boolean stamped) {
        this.received = received;
        this.sent = sent;
        this.stamped = stamped;
        received.fill(FILL);
        sent.fill(FILL);
    }

    /** For a client that checks, before the first message. */
    void fill() {
        for (long i = 0; i < sent.byteSize(); i++) {
            sent.set(ValueLayout.JAVA_BYTE, i, i % page == 0 ? 0 : (byte) (i * 31 + (i >>> 8) * 17 + 1));
        }
    }

    /** For a client that checks, before each message. */
    void stamp(int message) {
        if (stamped) {
            for (int i = 0; i < STAMP && i + 1 < sent.byteSize(); i++) {
                sent.set(ValueLayout.JAVA_BYTE, i + 1, (byte) (message >>> 8 * i % 32 ^ i));
            }
        }
    }

    /** For a client: checks the reply. */
    void checkEcho(int message) throws PeerException {
        long at = sent.mismatch(received);
        if (at >= 0) {
            throw new PeerException("message " + message + " came back with another byte " + at + ": "
                    + hex(received, at) + " instead of " + hex(sent, at));
        }
    }

    /** For a server: checks the message of a client that checks. */
    void checkPages(int message) throws PeerException {
        for (long i = 0; i < received.byteSize(); i += page) {
            if (received.get(ValueLayout.JAVA_BYTE, i) != 0) {
                throw new PeerException("message " + message + " has invalid data in page " + i / page
                        + ", which begins with " + hex(received, i) + " instead of 0x00: give --check (-c) at both"
                        + " ends");
            }
        }
    }

    private static String hex(MemorySegment memory, long at) {
        return "0x" + Integer.toHexString(1 << 8 | memory.get(ValueLayout.JAVA_BYTE, at) & 0xff).substring(1);
    }
}
