// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.PeerException;

/** The client: offers a text, then room for the reply, and compares the two. */
final class RpingClient {
    private static final byte FIRST = 'A';
    private static final byte LAST = 'z';

    private final RpingEndpoint end;
    private final int size;
    private final @Nullable PrintWriter show;

    /** @param show where to print the texts; null for nowhere */
    RpingClient(RpingEndpoint end, int size, @Nullable PrintWriter show) {
        this.end = end;
        this.size = size;
        this.show = show;
    }

    /** One ping. */
    void ping(int number) throws IOException {
        MemorySegment text = end.source.segment();
        text.copyFrom(MemorySegment.ofArray(text(number, size)));
        end.offer(end.source);
        RpingBuffer _ = end.receive();
        end.offer(end.sink);
        RpingBuffer _ = end.receive();
        MemorySegment back = end.data(size);
        long at = text.mismatch(back);
        if (at >= 0) {
            throw new PeerException("ping " + number + " came back with another byte " + at + ": "
                    + (back.get(ValueLayout.JAVA_BYTE, at) & 0xff) + " instead of "
                    + (text.get(ValueLayout.JAVA_BYTE, at) & 0xff));
        }
        PrintWriter out = show;
        if (out != null) {
            out.println("ping data: " + back.getString(0, StandardCharsets.US_ASCII));
            out.flush();
        }
    }

    /** The text of a ping: its number, then the alphabet, starting with another letter each time, and 0 at the end. */
    static byte[] text(int number, int size) {
        byte[] head = ("rdma-ping-" + number + ": ").getBytes(StandardCharsets.US_ASCII);
        byte[] text = new byte[size];
        int letters = LAST - FIRST + 1;
        for (int i = 0; i < size - 1; i++) {
            text[i] = i < head.length ? head[i] : (byte) (FIRST + (number % letters + i - head.length) % letters);
        }
        return text;
    }
}
