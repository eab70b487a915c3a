// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Random;

import org.verbena.sockets.VerbenaSocketChannel;

/**
 * One end of a connection, with a model of its stream of bytes: each operation is done on the channel and on the model, and
 * the results have to agree. The value of a byte follows from its position.
 */
final class ModelChannel {
    /** The bytes of both directions, repeated; their number is prime. */
    static final byte[] PATTERN = new byte[70_001];
    private static final byte UNTOUCHED = 0x5a;
    private static final int MAX_WAIT_MILLIS = 60_000;

    static {
        new Random(1).nextBytes(PATTERN);
    }

    final SocketChannel channel;
    private final Random random;
    private final Selector selector;
    ModelChannel peer;
    /** Positions in the streams, which need not begin at 0. */
    long written;
    long read;
    boolean outputShut;
    boolean inputShut;
    boolean closed;
    /** The peer need not get all that was written here, nor an orderly end. */
    boolean brokenOff;
    /** The kernel, or the peer, has reported that the connection is gone. */
    boolean failed;

    ModelChannel(SocketChannel channel, Random random, Selector selector, long begin) {
        this.channel = channel;
        this.random = random;
        this.selector = selector;
        written = begin;
    }

    /** Bytes that have been written for this end. */
    long unread() {
        return peer.written - read;
    }

    /** Whether TCP answers what is written to it with a reset. */
    private boolean isGone() {
        return closed || inputShut && outputShut;
    }

    private boolean isEnded() {
        return peer.outputShut || peer.closed;
    }

    /** Whether a blocking read returns. */
    boolean wouldRead() {
        return inputShut || unread() > 0 || isEnded();
    }

    boolean isBlocking() {
        return channel.isBlocking();
    }

    static byte at(long position) {
        return PATTERN[(int) (position % PATTERN.length)];
    }

    /** A buffer of a random kind with {@code n} bytes to write. */
    private ByteBuffer full(long position, int n) {
        int before = random.nextInt(3) * 5;
        ByteBuffer b = random.nextBoolean()
                ? ByteBuffer.allocate(n + before + 3)
                : ByteBuffer.allocateDirect(n + before + 3);
        for (int i = 0; i < n; i++) {
            b.put(before + i, at(position + i));
        }
        b.position(before).limit(before + n);
        ByteBuffer part = random.nextBoolean() ? b.slice() : b;
        return random.nextInt(3) == 0 ? part.asReadOnlyBuffer() : part;
    }

    private ByteBuffer empty(int n) {
        int before = random.nextInt(3) * 5;
        ByteBuffer b = random.nextBoolean()
                ? ByteBuffer.allocate(n + before + 3)
                : ByteBuffer.allocateDirect(n + before + 3);
        for (int i = 0; i < b.capacity(); i++) {
            b.put(i, UNTOUCHED);
        }
        b.position(before).limit(before + n);
        return random.nextBoolean() ? b.slice() : b;
    }

    /** What was read into the buffer from {@code begin} to {@code end} continues the stream; the rest is unchanged. */
    private void checkRead(ByteBuffer into, int begin, int end) {
        ByteBuffer all = into.duplicate().clear();
        for (int i = 0; i < all.capacity(); i++) {
            byte wanted = i >= begin && i < end ? at(read + i - begin) : UNTOUCHED;
            if (all.get(i) != wanted) {
                throw new AssertionError("byte " + i + " of " + into + ", " + begin + " to " + end
                        + " read, at position "
                        + read + ", is " + all.get(i));
            }
        }
        read += end - begin;
    }

    private void mayFail(boolean allowed, IOException e) {
        if (!allowed) {
            throw new AssertionError("an error, though the peer is open", e);
        }
        failed = true;
    }

    /** Whether something that was written for this end may be lost. */
    boolean mayReadFail() {
        return failed || peer.isGone() && peer.brokenOff;
    }

    // -- output

    /** Writes; -1 if the connection is gone. */
    long write(int... sizes) throws IOException {
        int offset = random.nextInt(2);
        ByteBuffer[] buffers = new ByteBuffer[offset + sizes.length + random.nextInt(2)];
        Arrays.fill(buffers, ByteBuffer.allocate(3)); // not to be written
        int[] begins = new int[sizes.length];
        long n = 0;
        for (int i = 0; i < sizes.length; i++) {
            buffers[offset + i] = full(written + n, sizes[i]);
            begins[i] = buffers[offset + i].position();
            n += sizes[i];
        }
        if (closed || outputShut) {
            assertThatThrownBy(() -> channel.write(buffers, offset, sizes.length))
                    .isInstanceOf(ClosedChannelException.class);
            return -1;
        }
        boolean one = sizes.length == 1;
        long done;
        try {
            done = one ? channel.write(buffers[offset]) : channel.write(buffers, offset, sizes.length);
        } catch (IOException e) {
            mayFail(peer.isGone(), e);
            return -1;
        }
        if (isBlocking()) {
            assertThat(done).as("a blocking write").isEqualTo(n);
        }
        assertThat(done).isBetween(0L, n);
        long left = done;
        for (int i = 0; i < sizes.length; i++) {
            int part = (int) Math.min(left, sizes[i]);
            assertThat(buffers[offset + i].position()).isEqualTo(begins[i] + part);
            left -= part;
        }
        wrote(done);
        return done;
    }

    private void wrote(long n) {
        written += n;
        // TCP answers that with a reset, which may overtake what is unread here
        peer.brokenOff |= peer.isGone() && n > 0;
    }

    /** Writes by the socket's stream. */
    void writeStream(int n) throws IOException {
        if (closed || outputShut) {
            assertThatThrownBy(() -> channel.socket().getOutputStream()).isInstanceOf(SocketException.class);
            return;
        }
        ByteBuffer from = ByteBuffer.allocate(n + 2);
        for (int i = 0; i < n; i++) {
            from.put(1 + i, at(written + i));
        }
        if (!isBlocking()) {
            assertThatThrownBy(() -> channel.socket().getOutputStream().write(from.array(), 1, Math.max(1, n)))
                    .isInstanceOf(IllegalBlockingModeException.class);
            return;
        }
        try {
            channel.socket().getOutputStream().write(from.array(), 1, n);
            wrote(n);
        } catch (IOException e) {
            mayFail(peer.isGone(), e);
        }
    }

    /** Sends a part of a file that has the pattern. */
    void sendFile(FileChannel file, int count) throws IOException {
        if (closed || outputShut) {
            assertThatThrownBy(() -> file.transferTo(0, Math.max(1, count), channel))
                    .isInstanceOf(ClosedChannelException.class);
            return;
        }
        try {
            long from = written % PATTERN.length;
            long n = channel instanceof VerbenaSocketChannel ours && random.nextBoolean()
                    ? ours.sendFile(file, from, count)
                    : file.transferTo(from, count, channel);
            assertThat(n).isBetween(isBlocking() && !peer.isGone() ? count : 0L, (long) count);
            wrote(n);
        } catch (IOException e) {
            mayFail(peer.isGone(), e);
        }
    }

    void shutdownOutput() throws IOException {
        if (closed) {
            assertThatThrownBy(channel::shutdownOutput).isInstanceOf(ClosedChannelException.class);
            return;
        }
        try {
            channel.shutdownOutput();
        } catch (IOException e) {
            mayFail(peer.isGone(), e);
        }
        outputShut = true;
        brokenOff |= inputShut && unread() > 0;
    }

    // -- input

    /** Reads; the caller makes sure that a blocking read returns. */
    long read(int... rooms) throws IOException {
        int offset = random.nextInt(2);
        ByteBuffer[] buffers = new ByteBuffer[offset + rooms.length + random.nextInt(2)];
        Arrays.fill(buffers, ByteBuffer.allocate(3)); // not to be read into
        int[] begins = new int[rooms.length];
        long room = 0;
        for (int i = 0; i < rooms.length; i++) {
            buffers[offset + i] = empty(rooms[i]);
            begins[i] = buffers[offset + i].position();
            room += rooms[i];
        }
        if (closed) {
            assertThatThrownBy(() -> channel.read(buffers, offset, rooms.length))
                    .isInstanceOf(ClosedChannelException.class);
            return -1;
        }
        boolean one = rooms.length == 1;
        long n;
        try {
            n = one ? channel.read(buffers[offset]) : channel.read(buffers, offset, rooms.length);
        } catch (IOException e) {
            mayFail(mayReadFail(), e);
            return -1;
        }
        checkCount(n, room);
        for (int i = 0, left = (int) Math.max(0, n); i < rooms.length; i++) {
            int part = Math.min(left, rooms[i]);
            assertThat(buffers[offset + i].position()).isEqualTo(begins[i] + part);
            checkRead(buffers[offset + i], begins[i], begins[i] + part);
            left -= part;
        }
        return n;
    }

    private void checkCount(long n, long room) {
        if (inputShut) {
            assertThat(n).as("the input is shut down").isEqualTo(-1);
        } else if (n < 0) {
            assertThat(isEnded()).as("end of the stream, which the peer has ended").isTrue();
            if (!failed && !(outputShut && mayReadFail())) { // TCP reports once what has failed, to a shutdown too
                assertThat(unread()).as("unread before the end").isZero();
            }
        } else if (n == 0) {
            assertThat(isBlocking() && room > 0).as("a blocking read returned nothing").isFalse();
        } else {
            assertThat(n).isLessThanOrEqualTo(Math.min(room, unread()));
        }
    }

    /** Reads by the socket's stream. */
    void readStream(int room) throws IOException {
        if (closed || inputShut) {
            assertThatThrownBy(() -> channel.socket().getInputStream()).isInstanceOf(SocketException.class);
            return;
        }
        InputStream in = channel.socket().getInputStream();
        ByteBuffer into = ByteBuffer.allocate(room + 2);
        Arrays.fill(into.array(), UNTOUCHED);
        if (!isBlocking()) {
            assertThatThrownBy(() -> in.read(into.array(), 1, Math.max(1, room)))
                    .isInstanceOf(IllegalBlockingModeException.class);
            return;
        }
        try {
            assertThat(in.available()).isBetween(0, (int) unread());
            int n = in.read(into.array(), 1, room);
            checkCount(n, room);
            checkRead(into, 1, 1 + Math.max(0, n));
        } catch (IOException e) {
            mayFail(mayReadFail(), e);
        }
    }

    /** Receives into a file. */
    void receiveFile(FileChannel file, int count) throws IOException {
        if (closed) {
            assertThatThrownBy(() -> FileFromRingTest.receive(channel, file, 0, Math.max(1, count)))
                    .isInstanceOf(ClosedChannelException.class);
            return;
        }
        file.truncate(0);
        try {
            long n = FileFromRingTest.receive(channel, file, 0, count);
            assertThat(n).isBetween(0L, inputShut ? 0 : Math.min(count, unread()));
            ByteBuffer got = ByteBuffer.allocate((int) n);
            assertThat(n == 0 || file.read(got, 0) == n).isTrue();
            checkRead(got, 0, (int) n);
        } catch (IOException e) {
            mayFail(mayReadFail(), e);
        }
    }

    void refuseReadOnly() {
        if (!closed && !inputShut && !peer.isGone()) { // else TCP's error may come first
            assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(5).asReadOnlyBuffer()))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    void shutdownInput() throws IOException {
        if (closed) {
            assertThatThrownBy(channel::shutdownInput).isInstanceOf(ClosedChannelException.class);
            return;
        }
        try {
            channel.shutdownInput();
        } catch (IOException e) {
            mayFail(peer.isGone(), e);
        }
        inputShut = true;
        brokenOff |= outputShut && unread() > 0;
    }

    // -- both

    void configureBlocking(boolean blocking) throws IOException {
        if (closed) {
            assertThatThrownBy(() -> channel.configureBlocking(blocking)).isInstanceOf(ClosedChannelException.class);
        } else {
            channel.configureBlocking(blocking);
        }
    }

    /** A selector finds what is ready in the model, however late it arrives, and nothing else. */
    void select() throws IOException {
        if (closed || isBlocking() || failed) {
            return;
        }
        boolean readable = wouldRead();
        boolean writable = !outputShut && !peer.isGone() && peer.unread() == 0;
        SelectionKey key = channel.register(selector, readable || !writable
                ? SelectionKey.OP_READ
                : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        try {
            if (readable || writable) {
                assertThat(selector.select(MAX_WAIT_MILLIS)).as("ready and selected").isEqualTo(1);
            } else {
                assertThat(selector.selectNow()).as("nothing is ready").isZero();
            }
            selector.selectedKeys().clear();
            assertThat(key.isReadable()).isEqualTo(readable);
        } finally {
            key.cancel();
            selector.selectNow();
        }
    }

    void close(boolean reset) throws IOException {
        if (!closed) {
            if (reset) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
            brokenOff = reset || unread() > 0;
            closed = true;
        }
        channel.close();
    }

    @Override
    public String toString() {
        return "written %d, read %d of %d, ends %s%s%s, failed %s, %s".formatted(written, read, peer.written,
                outputShut,
                inputShut, closed, failed, channel);
    }
}
