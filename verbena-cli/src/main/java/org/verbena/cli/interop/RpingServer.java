// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.PeerException;

/** The server of one client: reads the offered text, and writes it back to the offered room. */
final class RpingServer {
    private final RpingEndpoint end;
    private final @Nullable PrintWriter show;

    /** @param show where to print the texts; null for nowhere */
    RpingServer(RpingEndpoint end, @Nullable PrintWriter show) {
        this.end = end;
        this.show = show;
    }

    /** Answers pings until the client disconnects, and returns their number. */
    long serve() throws IOException {
        long pings = 0;
        for (RpingBuffer o = end.receiveOrEnd(); o != null; o = end.receiveOrEnd()) {
            answer(o);
            pings++;
        }
        return pings;
    }

    private void answer(RpingBuffer source) throws IOException {
        if (source.size() < 1 || source.size() > RpingCommand.MAX_SIZE) {
            throw new PeerException("the client offers " + source.size() + " bytes: must be 1 to "
                    + RpingCommand.MAX_SIZE);
        }
        end.read(source);
        MemorySegment data = end.data(source.size());
        long length = textLength(data);
        PrintWriter out = show;
        if (out != null) {
            out.println("server ping data: "
                    + HumanText.printable(data.getString(0, StandardCharsets.ISO_8859_1)));
            out.flush();
        }
        end.goAhead();
        RpingBuffer sink = end.receive();
        if (sink.size() < length) {
            throw new PeerException("the client offers room for " + sink.size() + " bytes, and its text has " + length);
        }
        end.write(sink, length);
        end.goAhead();
    }

    /** Bytes of the text with the 0 that terminates it. */
    private static long textLength(MemorySegment data) throws PeerException {
        for (long i = 0; i < data.byteSize(); i++) {
            if (data.get(ValueLayout.JAVA_BYTE, i) == 0) {
                return i + 1;
            }
        }
        throw new PeerException("the client is no rping: its text of " + data.byteSize() + " bytes has no end");
    }
}
