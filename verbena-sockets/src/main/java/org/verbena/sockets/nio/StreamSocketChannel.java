// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.LongBinaryOperator;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;

import org.verbena.sockets.SocketStatistics;
import org.verbena.sockets.rules.Decision;
import org.verbena.sockets.rules.Rules;
import org.verbena.sockets.stream.Stream;
import org.verbena.sockets.stream.StreamFigures;
import org.verbena.sockets.stream.StreamState;

/**
 * A TCP channel over one of the JDK's, the inner channel. Until it is connected the inner channel has the same blocking
 * mode and does everything; from then on it never blocks and a {@link Stream} carries the bytes.
 *
 * <p>As with the JDK's own, a channel that is closed while a selector has a key of it is only shut down at first: the
 * selector {@linkplain #kill ends it} when it drops the key. So a selector may call the stream of a key that it has not
 * dropped.
 *
 * <p>It is a function since the agent makes {@link FileChannel#transferTo} call {@link #apply}, by an interface that
 * the JDK expects: a {@link SelChImpl} that is a {@link Function}, too, is this class. It supplies another one to {@link
 * FileChannel#transferFrom}.
 */
final class StreamSocketChannel extends JdkBackedChannel
        implements
            StreamCarried,
            Function<FileChannel, LongBinaryOperator>,
            Supplier<Function<FileChannel, LongBinaryOperator>> {
    /** The JDK's message where there is no room for urgent data. */
    static final String FULL = "Socket buffer full";

    private final SocketChannel inner;
    private final Interrupts interrupts;
    private final Waiting waiting;
    private final Input input = new Input(this);
    private final Output output = new Output(this);
    private final FileReceiver files = new FileReceiver(this, input);
    private final PacketInput packets = new PacketInput(this, input);
    private final List<ConnectionListener> listeners = new CopyOnWriteArrayList<>();
    private final AtomicReference<@Nullable SelectorKey> listening = new AtomicReference<>();
    private final ChannelOptions options;
    private final Connector connector;

    /** Guards the change to connected and the end; its holder does not block but for SO_LINGER of this channel. */
    private final Object stateLock = new Object();

    private volatile @Nullable Stream stream;
    private volatile boolean ringing;
    private boolean urgentInline;
    private boolean quiet;
    private boolean released;
    private @Nullable Socket adaptor;

    StreamSocketChannel(SelectorProvider provider, SocketChannel inner) {
        this(provider, inner, Interrupts.CLOSE_CHANNEL, Rules.isOffloaded());
    }

    /** @param offloaded the value of {@link Rules#isOffloaded} when the program made its socket */
    StreamSocketChannel(SelectorProvider provider, SocketChannel inner, Interrupts interrupts, boolean offloaded) {
        super(provider, inner);
        this.inner = inner;
        this.interrupts = interrupts;
        this.waiting = new Waiting((SelChImpl) inner, blockingLock(), interrupts);
        this.options = new ChannelOptions(this);
        this.connector = new Connector(this, offloaded);
    }

    /**
     * Over a connection that {@code inner} has, as accepted.
     *
     * @param decision the decision of the rules on the listener
     */
    static StreamSocketChannel accepted(
            SelectorProvider provider, SocketChannel inner, Interrupts interrupts, Decision decision)
            throws IOException {
        // no later call decides it
        StreamSocketChannel channel = new StreamSocketChannel(provider, inner, interrupts, true);
        channel.connected(Stream.Role.SERVER, decision);
        return channel;
    }

    // -- for selectors

    /** The stream; null before the channel is connected. Takes no lock. */
    @Override
    public @Nullable Stream streamOrNull() {
        return stream;
    }

    /** Notifies {@code listener} when the channel becomes connected, at once if it is. Takes no lock. */
    @Override
    public void onConnected(ConnectionListener listener) {
        listeners.add(listener);
        if (stream != null) {
            listener.connected();
        }
    }

    /** Removes a listener, as its key is dropped. */
    @Override
    public void forget(ConnectionListener listener) {
        listeners.remove(listener);
    }

    @Override
    public AtomicReference<@Nullable SelectorKey> listening() {
        return listening;
    }

    @Override
    public void onListenerRemoved() {
        listeners.forEach(ConnectionListener::connected);
    }

    /**
     * Ends a channel that was closed while it was registered. A selector calls this when it has dropped a key whose
     * channel is neither open nor registered with another selector.
     */
    @Override
    public void kill() throws IOException {
        if (isRegistered()) {
            return;
        }
        foreign().forget();
        synchronized (stateLock) {
            if (quiet) {
                release();
            }
        }
    }

    // -- for the two directions

    Waiting waiting() {
        return waiting;
    }

    Interrupts interrupts() {
        return interrupts;
    }

    Input input() {
        return input;
    }

    Output output() {
        return output;
    }

    Stream connectedStream() throws ClosedChannelException {
        Stream s = stream;
        checkOpen();
        if (s == null) {
            throw new NotYetConnectedException();
        }
        return s;
    }

    /** The other end; null if the channel is closed. */
    @Nullable
    SocketAddress remoteOrNull() {
        try {
            return inner.getRemoteAddress();
        } catch (IOException closed) {
            return null;
        }
    }

    /** This end; null if the channel is closed. */
    @Nullable
    SocketAddress localOrNull() {
        try {
            return inner.getLocalAddress();
        } catch (IOException closed) {
            return null;
        }
    }

    PacketInput packets() {
        return packets;
    }

    /** Before an operation whose direction may have to wake the peer. */
    void beforeBytes(Stream s) throws IOException {
        if (!ringing && s.isOutputByRing()) {
            ringing = true;
            options.ringsDoorbells();
        }
    }

    void beginBlocking() {
        if (interrupts == Interrupts.CLOSE_CHANNEL) {
            begin();
        }
    }

    void endBlocking(boolean completed) throws AsynchronousCloseException {
        if (interrupts == Interrupts.CLOSE_CHANNEL) {
            end(completed);
        } else if (!completed && !isOpen()) {
            throw new AsynchronousCloseException();
        }
    }

    // -- connecting

    @Override
    public boolean connect(SocketAddress remote) throws IOException {
        return connect(() -> inner.connect(remote));
    }

    @Override
    public boolean finishConnect() throws IOException {
        if (stream != null) {
            checkOpen();
            return true;
        }
        return connect(inner::finishConnect);
    }

    boolean connect(Connector.Attempt how) throws IOException {
        boolean connected = connector.connect(how);
        if (connected) {
            listeners.forEach(ConnectionListener::connected);
        }
        return connected;
    }

    /** The inner channel is connected: from here on a stream carries the bytes. */
    void connected(Stream.Role role, Decision decision) throws IOException {
        synchronized (stateLock) {
            if (!isOpen()) {
                throw new AsynchronousCloseException();
            }
            inner.configureBlocking(false);
            Stream made = connector.open(role, decision);
            if (urgentInline) {
                made.urgentInline(true);
            }
            stream = made;
            foreign().connected(made);
        }
        foreign().forget();
    }

    @Override
    public boolean isConnected() {
        return stream != null && isOpen();
    }

    @Override
    public boolean isConnectionPending() {
        return stream == null && inner.isConnectionPending();
    }

    // -- bytes

    @Override
    public int read(ByteBuffer into) throws IOException {
        return input.read(into);
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
        return input.read(into, offset, length);
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        return output.write(from);
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        return output.write(from, offset, length);
    }

    @Override
    public long sendFile(FileChannel file, long position, long count) throws IOException {
        checkRange(position, count);
        return output.sendFile(file, position, Math.min(count, Long.MAX_VALUE - position));
    }

    static void checkRange(long position, long count) {
        if (position < 0 || count < 0) {
            throw new IllegalArgumentException(
                    "position and count are not negative, but " + position + " and " + count);
        }
    }

    /** Sends a number of bytes of {@code file} from a position, and throws what {@link FileChannel#transferTo} does. */
    @Override
    public LongBinaryOperator apply(FileChannel file) {
        return (position, count) -> {
            try {
                return sendFile(file, position, count);
            } catch (IOException e) {
                throw undeclared(e);
            }
        };
    }

    @Override
    public long receiveFile(FileChannel file, long position, long count) throws IOException {
        return files.receive(file, position, count);
    }

    /** Receives into a file, as {@link #apply} sends. */
    @Override
    public Function<FileChannel, LongBinaryOperator> get() {
        return files;
    }

    /** Throws what its caller declares and {@link LongBinaryOperator} does not. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // the compiler takes it for an unchecked exception
    static <E extends Exception> E undeclared(Exception e) throws E {
        throw (E) e;
    }

    @Override
    public SocketChannel shutdownInput() throws IOException {
        Stream s = connectedStream();
        if (!input.isShut()) {
            input.shutdown(s);
        }
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        Stream s = connectedStream();
        if (!output.isShut()) {
            output.shutdown(s);
        }
        return this;
    }

    /** Bytes that can be read without waiting. */
    int available() throws IOException {
        synchronized (stateLock) {
            Stream s = connectedStream();
            if (input.isShut()) {
                return 0;
            }
            return s.available(s.isInputByRing() ? 0 : inTcp());
        }
    }

    private int inTcp() throws IOException {
        try {
            return inner.socket().getInputStream().available();
        } catch (SocketException brokenOff) {
            return 0; // a session that broke off has shut the input down
        }
    }

    /**
     * Sends a byte of urgent data: by TCP, unless a ring carries the bytes and the receiver wants it in line among
     * them. TCP drops what is not wanted in line, and the sender learns whether the connection still lives, which is
     * what programs use it for.
     *
     * @return false if there is no room for it, or the peer has not yet sent its option for it
     */
    boolean sendUrgent(int data) throws IOException {
        output.lock().lock();
        try {
            Stream connected = connectedStream();
            if (output.isShut()) {
                throw new ClosedChannelException();
            }
            // by TCP it stays with TCP: else the receiver, which may count the byte or not, would miss the switch
            if (!connected.keepOutputByTcp()) {
                if (!connected.hasPeerUrgentOption()) {
                    return false;
                }
                if (connected.takesUrgentInline()) {
                    return output.writeUnrecorded(ByteBuffer.wrap(new byte[] {(byte) data})) > 0;
                }
            }
            connected.sendUrgent(data);
            return true;
        } catch (SocketException e) {
            if (FULL.equals(e.getMessage())) {
                return false;
            }
            throw e;
        } finally {
            output.lock().unlock();
        }
    }

    /** Whether urgent data come in line, SO_OOBINLINE. */
    void urgentInline(boolean on) throws SocketException {
        synchronized (stateLock) {
            urgentInline = on;
            inner.socket().setOOBInline(on);
            Stream s = stream;
            if (s != null && isOpen()) {
                s.urgentInline(on);
            }
        }
    }

    @Override
    public boolean isInputByRing() {
        Stream s = stream;
        return s != null && s.isInputByRing();
    }

    @Override
    public boolean isOutputByRing() {
        Stream s = stream;
        return s != null && s.isOutputByRing();
    }

    @Override
    public String fallbackReason() {
        Stream s = stream;
        return s == null ? "" : s.fallbackReason();
    }

    @Override
    public SocketStatistics statistics() {
        Stream s = stream;
        if (s == null) {
            return new SocketStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        }
        StreamFigures f = s.figures();
        StreamState now = s.state();
        return new SocketStatistics(f.sentByRing(), f.sentByTcp(), f.receivedByRing(), f.receivedByTcp(),
                f.doorbells(), f.wakeUps(), f.stalls(), f.growths(), now.outRing(), now.outOccupied(), now.inRing(),
                now.inOccupied());
    }

    @Override
    ChannelOptions options() {
        return options;
    }

    @Override
    public Socket socket() {
        synchronized (stateLock) {
            Socket s = adaptor;
            if (s == null) {
                s = ChannelSocket.of(this);
                adaptor = s;
            }
            return s;
        }
    }

    // -- mode and end

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        if (block) { // operations of a channel that does not block end soon
            input.lock().lock();
            output.lock().lock();
        } else {
            DirectionLock.lockBoth(input.lock(), output.lock(), blockingLock());
        }
        try {
            if (stream == null) {
                if (block) {
                    foreign().forget();
                }
                inner.configureBlocking(block);
            }
        } finally {
            output.lock().unlock();
            input.lock().unlock();
        }
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        Stream s;
        synchronized (stateLock) {
            s = stream;
        }
        if (s == null) {
            connector.end();
            waiting.stop(OP_READ); // connects by a non-blocking inner channel
            inner.close(); // wakes a thread that connects by a blocking one
            if (!isRegistered()) {
                foreign().forget(); // those that knew it have gone before; from others comes kill()
            }
            return;
        }
        waiting.stop(OP_READ);
        waiting.stop(OP_WRITE);
        s.stopWaitingForPeer();
        input.awaitUnused();
        output.awaitUnused();
        synchronized (stateLock) {
            quiet = true;
            if (isRegistered()) {
                shutDown(s);
            } else {
                release();
            }
        }
    }

    /** The selectors still have keys of the channel: its peer need not wait for them to be informed of the end. */
    private void shutDown(Stream s) {
        try {
            int linger = inner.getOption(StandardSocketOptions.SO_LINGER);
            if (linger > 0) {
                inner.setOption(StandardSocketOptions.SO_LINGER, -1); // so that no thread waits in the selector
            }
            if (linger != 0) {
                s.shutdownOutput();
            }
        } catch (IOException _) {
            // the connection has gone already
        }
    }

    private static void endOutput(Stream s) {
        try {
            s.shutdownOutput();
        } catch (IOException _) {
            // the connection has gone already
        }
    }

    private void release() throws IOException {
        Stream s = stream;
        if (released || s == null) {
            return;
        }
        released = true;
        boolean reset = false;
        try {
            reset = inner.getOption(StandardSocketOptions.SO_LINGER) == 0;
            if (!reset && interrupts == Interrupts.END_VIRTUAL_WAIT) {
                endOutput(s); // as classic sockets do: so a peer finds the end even if not all was read here
            }
        } finally {
            try {
                s.close(reset);
                if (s.isBroken()) {
                    inner.setOption(StandardSocketOptions.SO_LINGER, 0); // an orderly end would make a part look whole
                }
            } finally {
                inner.close();
            }
        }
    }
}
