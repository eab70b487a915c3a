// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.netcat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.Terminal;
import org.verbena.stack.TcpSocket;

/** Standard input to a connection, which is told its end, and the connection to standard output. */
final class NetcatStream {
    private static final int BUFFER = 1 << 16;
    /** So long the input may be silent once the peer has sent all. */
    private static final long SILENCE_MILLIS = 1000;
    /** Between looks whether the peer has acknowledged all, which wakes nobody. */
    private static final long LOOK_MILLIS = 5;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final TcpSocket socket;
    private final StandardStreams streams;
    /** How long nothing may move in either direction. */
    private final long patience;
    private volatile long moved = System.nanoTime();
    /** Bytes of the input are on their way into the connection. */
    private volatile boolean writing;
    private volatile @Nullable IOException failure;

    NetcatStream(TcpSocket socket, StandardStreams streams, Duration patience) {
        this.socket = socket;
        this.streams = streams;
        this.patience = patience.toNanos();
    }

    /** Runs until both directions have ended, nothing has moved for too long, or the peer has sent all and the input is silent. */
    void run() throws IOException, InterruptedException {
        Thread sender = Thread.ofPlatform().daemon().name("verbena-netcat-input").start(this::send);
        receive();
        long silence = Terminal.IN.isTerminal() ? 1 : SILENCE_MILLIS;
        long before;
        do {
            before = moved;
            sender.join(silence);
        } while (sender.isAlive() && (writing || moved != before) && left() > 0);
        throwFailure();
        if (left() > 0) {
            finish();
        }
    }

    /** Nanoseconds until nothing has moved for too long. */
    private long left() {
        return patience - (System.nanoTime() - moved);
    }

    /** Takes bytes up to the peer's end, or until nothing has moved for too long. */
    private void receive() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER);
        for (long left = patience; left > 0; left = left()) {
            int n;
            try {
                n = socket.read(bytes.clear(), Duration.ofNanos(left));
            } catch (ClosedChannelException e) {
                throwFailure(); // of the input, for which it was closed
                throw e;
            }
            if (n < 0) {
                return;
            }
            streams.write(bytes.flip());
            if (n > 0) {
                moved = System.nanoTime();
            }
        }
    }

    private void send() {
        ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER);
        try {
            while (streams.read(bytes.clear()) >= 0) {
                writing = true;
                socket.write(bytes.flip());
                moved = System.nanoTime();
                writing = false;
            }
            socket.shutdownOutput();
            moved = System.nanoTime();
        } catch (CommandException e) {
            failure = e;
            abort(e);
        } catch (IOException e) {
            failure = e; // what has come before is still read, and then the same is found there
        } finally {
            writing = false;
        }
    }

    /** Wakes the reader. */
    private void abort(CommandException why) {
        try {
            socket.abort();
        } catch (IOException e) {
            why.addSuppressed(e);
        }
    }

    private void throwFailure() throws IOException {
        IOException f = failure;
        if (f != null) {
            throw f;
        }
    }

    /** Waits until the peer has acknowledged all that was written, and throws if it has reset the connection instead. */
    private void finish() throws IOException, InterruptedException {
        socket.shutdownOutput();
        throwReset();
        while (socket.info().state().sends() && left() > 0) {
            Thread.sleep(LOOK_MILLIS);
            throwReset();
        }
    }

    private void throwReset() throws IOException {
        try {
            socket.write(NOTHING); // says what has ended the connection
        } catch (ClosedChannelException e) {
            // nothing has
        }
    }
}
