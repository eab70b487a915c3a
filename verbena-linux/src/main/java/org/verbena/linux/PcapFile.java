// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file of packets as libpcap writes them, with nanoseconds: 24 bytes (magic number, version 2.4, the longest packet, link
 * type Ethernet), then each packet behind 16 bytes (seconds, nanoseconds, bytes here, bytes of the packet). A VLAN tag
 * that the kernel kept beside the packet is put back. What is written ends with a whole packet, even if the process is
 * killed. Used by one thread.
 */
public final class PcapFile implements PacketCapture.Visitor, AutoCloseable {
    private static final int MAGIC_NANOSECONDS = 0xa1b23c4d;
    private static final int ETHERNET = 1;
    private static final int HEADER = 16;
    private static final int ADDRESSES = 12;
    private static final int TAG = 4;
    private static final int BUFFER = 1 << 20;

    private final Path path;
    private final FileChannel file;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER).order(ByteOrder.LITTLE_ENDIAN);
    private final MemorySegment memory = MemorySegment.ofBuffer(buffer);
    private long packets;
    /** Of these, those that are in the file. */
    private long filed;
    private long written;
    private boolean failed;

    private PcapFile(Path path, FileChannel file, int longest) {
        this.path = path;
        this.file = file;
        buffer.putInt(MAGIC_NANOSECONDS).putShort((short) 2).putShort((short) 4).putInt(0).putInt(0).putInt(longest)
                .putInt(ETHERNET);
    }

    /**
     * Begins a file, in the place of one that there was.
     *
     * @param longest as many bytes of a packet can be there
     */
    public static PcapFile create(Path path, int longest) throws IOException {
        try {
            PcapFile f = new PcapFile(path, FileChannel.open(path, StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE), longest);
            f.flush();
            return f;
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /** The file ends with its last whole packet. */
    private void cut(long size) {
        failed = true;
        packets = filed;
        try {
            file.truncate(size);
        } catch (IOException e) {
            // a reader finds the last packet cut short
        }
    }

    private static IOException failed(Path path, IOException e) {
        return new IOException("packets cannot be written to " + path + ": " + e.getMessage(), e);
    }

    /** Adds one; after a failure of {@link #flush} no more may be added. */
    @Override
    public void packet(long seconds, int nanos, int tag, int length, MemorySegment bytes) throws IOException {
        int here = (int) bytes.byteSize();
        boolean tagged = tag != 0 && here >= ADDRESSES;
        int more = tagged ? TAG : 0;
        if (buffer.remaining() < HEADER + here + more) {
            flush();
        }
        buffer.putInt((int) seconds).putInt(nanos).putInt(here + more).putInt(length + more);
        int first = tagged ? ADDRESSES : 0;
        put(bytes, 0, first);
        if (tagged) {
            buffer.order(ByteOrder.BIG_ENDIAN).putInt(tag).order(ByteOrder.LITTLE_ENDIAN);
        }
        put(bytes, first, here - first);
        packets++;
    }

    private void put(MemorySegment from, int at, int length) {
        MemorySegment.copy(from, at, memory, buffer.position(), length);
        buffer.position(buffer.position() + length);
    }

    /** How many there are until now; after a failure, how many are in the file. */
    public long packets() {
        return packets;
    }

    /** Where it is. */
    public Path path() {
        return path;
    }

    /** Writes what is there to the file. */
    public void flush() throws IOException {
        if (failed) {
            return;
        }
        long size = written;
        try {
            buffer.flip();
            while (buffer.hasRemaining()) {
                written += file.write(buffer);
            }
            buffer.clear();
            filed = packets;
        } catch (IOException e) {
            cut(size);
            throw failed(path, e);
        }
    }

    /** Ends the file. */
    @Override
    public void close() throws IOException {
        try (file) {
            flush();
        }
    }
}
