// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.nio.ByteBuffer;

/** What a connection has to send: bytes up to {@link #end}, of which those before {@link #next} were sent and those before {@link #una} acknowledged. */
final class Sender {
    final ByteRing ring;
    final SentSegments sent = new SentSegments();
    /** Bytes that may wait to be sent or acknowledged. */
    int limit;
    /** ISS. */
    int initial;
    /** SND.UNA. */
    int una;
    /** SND.NXT. */
    int next;
    /** Behind the last byte that was written. */
    int end;
    /** No more is written: FIN has the number {@link #end}. */
    boolean finished;
    /** SND.WND. */
    int window;
    int greatestWindow;
    /** SND.WL1 and SND.WL2. */
    int windowSequence;
    int windowAcknowledgment;
    int scale;
    /** Bytes of a full segment. */
    int segment;
    /** Behind the last segment that was sent and not full, for Nagle's algorithm. */
    int smallEnd;
    /** Behind urgent data; {@link #una} if there is none. */
    int urgent;

    Sender(Blocks blocks, int limit) {
        ring = new ByteRing(blocks);
        this.limit = limit;
    }

    void begin(int sequence) {
        initial = sequence;
        una = sequence;
        next = sequence + 1;
        end = sequence + 1;
        smallEnd = sequence;
        urgent = sequence;
    }

    /** Bytes that were written and not sent. */
    int unsent() {
        return isFinSent() ? 0 : end - next;
    }

    boolean isFinSent() {
        return finished && next - end == 1;
    }

    /** FIN is to be sent. */
    boolean isFinDue() {
        return finished && !isFinSent();
    }

    /** All bytes and FIN are acknowledged. */
    boolean isAllAcknowledged() {
        return finished && una - end == 1;
    }

    int outstanding() {
        return next - una;
    }

    /** Bytes that fit now. */
    int room() {
        return Math.max(limit - held(), 0);
    }

    /** Bytes that were written and not acknowledged. */
    int held() {
        return Math.max(end - una, 0);
    }

    /** How many sequence numbers the peer takes from {@link #next} on. */
    int usable() {
        return una + window - next;
    }

    /** Takes what fits; answers how much, -1 if there is no memory. */
    int write(ByteBuffer from) {
        int n = Math.min(room(), from.remaining());
        if (n > 0 && !ring.reserve(una, held(), held() + n)) {
            n = Math.min(n, ring.capacity() - held()); // less than it would have, but not nothing
            if (n == 0) {
                n = Math.min(Math.min(room(), from.remaining()), Blocks.LEAST);
                if (!ring.reserve(una, held(), held() + n)) {
                    return -1;
                }
            }
        }
        if (n > 0) {
            ring.put(end, from, n);
            from.position(from.position() + n);
            end += n;
        }
        return n;
    }

    /** Whether nothing waits. */
    boolean isEmpty() {
        return held() == 0;
    }

    void clear() {
        sent.clear();
        ring.clear();
    }
}
