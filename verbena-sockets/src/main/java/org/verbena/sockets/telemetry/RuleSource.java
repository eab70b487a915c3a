// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.verbena.telemetry.CounterEntry;

/**
 * The name of the place where a rule was written, in the attributes of its entry: UTF-8, padded with zeros. Of a path that is
 * longer the end is kept, which names the file.
 */
public final class RuleSource {
    private static final int LONGS = 7;
    private static final int BYTES = LONGS * Long.BYTES;
    private static final String CUT = "...";

    private RuleSource() {}

    /** Writes it to an entry. */
    public static void put(CounterEntry e, String source) {
        long[] longs = longs(source);
        for (int i = 0; i < LONGS; i++) {
            e.setAttribute(SocketLayout.SOURCE + i, longs[i]);
        }
    }

    static long[] longs(String source) {
        long[] longs = new long[LONGS];
        ByteBuffer.wrap(Arrays.copyOf(fitting(source).getBytes(StandardCharsets.UTF_8), BYTES)).asLongBuffer().get(
                longs);
        return longs;
    }

    private static String fitting(String source) {
        String end = source;
        while (end.getBytes(StandardCharsets.UTF_8).length > BYTES) {
            String rest = end.equals(source) ? end : end.substring(CUT.length());
            end = CUT + rest.substring(rest.offsetByCodePoints(0, 1));
        }
        return end;
    }

    /** Reads it; empty if the process is of a version that does not write it. Anything may stand there. */
    static String of(long[] attributes) {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        for (int i = 0; i < LONGS; i++) {
            bytes.putLong(attributes[SocketLayout.SOURCE + i]);
        }
        String text = new String(bytes.array(), StandardCharsets.UTF_8);
        int end = text.indexOf('\0');
        return end < 0 ? text : text.substring(0, end);
    }
}
