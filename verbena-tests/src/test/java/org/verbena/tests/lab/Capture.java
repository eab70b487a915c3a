// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A file in pcap's format, of Ethernet frames, that is being written: the frames that the network card of a virtual
 * machine sent and received. A position in it is a point in time.
 */
final class Capture {
    private static final int HEADER = 24;
    private static final int RECORD = 16;

    private final Path file;

    Capture(Path file) {
        this.file = file;
    }

    /** The moment now. */
    long now() throws IOException {
        return Files.exists(file) ? Math.max(HEADER, Files.size(file)) : HEADER;
    }

    /** The frames since a moment. */
    List<byte[]> since(long moment) throws IOException {
        ByteBuffer all = read(moment, Files.size(file));
        List<byte[]> frames = new ArrayList<>();
        while (all.remaining() >= RECORD) {
            int length = all.getInt(all.position() + 8);
            if (length < 0 || length > all.remaining() - RECORD) {
                break; // half written
            }
            byte[] frame = new byte[length];
            all.position(all.position() + RECORD);
            all.get(frame);
            frames.add(frame);
        }
        return frames;
    }

    /** Writes the frames since a point in time to a separate file. */
    void copy(long moment, Path to) throws IOException {
        long end = Files.size(file);
        try (OutputStream out = Files.newOutputStream(to)) {
            out.write(read(0, HEADER).array());
            out.write(read(moment, end).array());
        }
    }

    private ByteBuffer read(long from, long to) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(Math.toIntExact(to - from)).order(ByteOrder.nativeOrder());
        try (FileChannel in = FileChannel.open(file)) {
            in.position(from);
            while (b.hasRemaining() && in.read(b) >= 0) {
                // until there is all
            }
        }
        return b.flip();
    }
}
