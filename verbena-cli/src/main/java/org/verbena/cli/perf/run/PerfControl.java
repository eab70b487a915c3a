// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CommandException;

/**
 * The control connection between the two processes of a measurement: lines over TCP. A separate thread reads it, so
 * that a loop that spins on memory notices through {@link #spin} that the peer is gone.
 */
public final class PerfControl implements AutoCloseable {
    private static final int MAX_LINE = 4096;
    private static final String GONE = "GONE";
    private static final String ERROR = "ERROR ";
    private static final long LOOK = 1 << 16;
    /** How long a peer may make no progress; {@code -Dverbena.perf.patience}, in seconds. */
    public static final long PATIENCE_SECONDS = Math.clamp(Long.getLong("verbena.perf.patience", 20), 1, 3600);

    private final Socket socket;
    private final long patienceSeconds;
    private final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private volatile boolean stop;
    /** The peer has sent the reason why it gives up. */
    private boolean told;
    private long stalledSince;

    public PerfControl(Socket socket) throws IOException {
        this(socket, PATIENCE_SECONDS);
    }

    /** With a patience of its own. */
    public PerfControl(Socket socket, long patienceSeconds) throws IOException {
        this.socket = socket;
        this.patienceSeconds = patienceSeconds;
        socket.setTcpNoDelay(true);
        Thread.ofPlatform().daemon().name("perf-control").start(this::read);
    }

    public InetAddress localAddress() {
        return socket.getLocalAddress();
    }

    public InetAddress remoteAddress() {
        return socket.getInetAddress();
    }

    private void read() {
        try (InputStream in = socket.getInputStream()) {
            StringBuilder line = new StringBuilder();
            byte[] bytes = new byte[1024];
            for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) {
                for (char c : new String(bytes, 0, n, StandardCharsets.ISO_8859_1).toCharArray()) {
                    if (c == '\n') {
                        take(line.toString());
                        line.setLength(0);
                    } else if (line.length() == MAX_LINE) {
                        return;
                    } else {
                        line.append(c < ' ' ? '?' : c);
                    }
                }
            }
        } catch (IOException e) {
            // the connection has ended in some way
        } finally {
            take(GONE);
        }
    }

    private void take(String line) {
        lines.add(line);
        if (line.equals(GONE) || line.startsWith(ERROR)) {
            stop = true;
        }
    }

    public void send(String line) throws CommandException {
        try {
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            throw new CommandException("the peer ended", e);
        }
    }

    /** The next line, or null if the peer has ended. */
    @Nullable
    public String next(long timeoutSeconds) throws CommandException {
        try {
            String line = lines.poll(timeoutSeconds, TimeUnit.SECONDS);
            if (line == null) {
                throw new CommandException("the peer did not answer for " + timeoutSeconds + " seconds");
            }
            return line.equals(GONE) ? null : line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException("interrupted", e);
        }
    }

    /** The next line, which must begin with {@code word}. */
    public PerfFields expect(String word, long timeoutSeconds) throws CommandException {
        String line = next(timeoutSeconds);
        if (line == null) {
            throw new CommandException("the peer ended");
        }
        if (line.startsWith(ERROR)) {
            told = true;
            throw new CommandException("the peer says: " + line.substring(ERROR.length()));
        }
        if (!line.startsWith(word)) {
            throw new CommandException("the peer is not a verbena perf of this version: it said '" + line + "'");
        }
        return new PerfFields(line.substring(word.length()));
    }

    /** Tells the peer why this side gives up; it may be gone already. */
    public void fail(String reason) {
        try {
            send(ERROR + reason.replace('\n', ' '));
        } catch (CommandException e) {
            stop = true;
        }
    }

    /** A better reason for a failure, if one arrives from the peer within a moment. */
    public CommandException explain(IOException failure) {
        try {
            String line = told ? null : lines.poll(1, TimeUnit.SECONDS);
            if (line != null && line.startsWith(ERROR)) {
                return new CommandException("the peer says: " + line.substring(ERROR.length()), failure);
            }
            if (GONE.equals(line)) {
                return new CommandException("the peer ended in the middle of the test", failure);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return new CommandException(failure.getMessage() == null ? failure.toString() : failure.getMessage(), failure);
    }

    /** One iteration of a waiting loop, to be called with its previous result, at first with 0. */
    public long spin(long turns) throws CommandException {
        Thread.onSpinWait();
        long t = turns + 1;
        if ((t & (LOOK - 1)) == 0) {
            look(t == LOOK);
        }
        return t;
    }

    /** The same for a loop that waits for a time, in which nothing is expected of the peer but that it is there. */
    long pause(long turns) throws CommandException {
        Thread.onSpinWait();
        long t = turns + 1;
        if ((t & (LOOK - 1)) == 0) {
            look(true);
        }
        return t;
    }

    /** Throws if the peer is gone, or has not moved since {@code first} was last true. */
    public void look(boolean first) throws CommandException {
        long now = System.nanoTime();
        if (first) {
            stalledSince = now;
        }
        if (stop) {
            throw new CommandException("the peer ended");
        }
        if (now - stalledSince > TimeUnit.SECONDS.toNanos(patienceSeconds)) {
            throw new PerfSilence(patienceSeconds);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
