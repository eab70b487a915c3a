// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.PeerException;

/** The two ends of perftest over TCP. */
final class PerftestSocket implements PerftestLink {
    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

    private final Socket socket;
    private final boolean client;
    private final Duration timeout;

    private PerftestSocket(Socket socket, boolean client, Duration timeout) throws IOException {
        this.socket = socket;
        this.client = client;
        this.timeout = timeout;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(Math.toIntExact(timeout.toMillis()));
    }

    /** Waits for a client as long as it takes. */
    static PerftestSocket accept(ServerSocket listener, Duration timeout) throws IOException {
        return new PerftestSocket(listener.accept(), false, timeout);
    }

    static PerftestSocket connect(String host, int port, PerftestType type, Duration timeout) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(host, port), Math.toIntExact(timeout.toMillis()));
            return new PerftestSocket(socket, true, timeout);
        } catch (IOException e) {
            socket.close();
            throw new PeerException("no listener at " + host + ":" + port + ": start 'verbena perftest " + type
                    + "' or " + type.program() + " there first", e);
        }
    }

    @Override
    public byte[] exchange(byte[] own) throws IOException {
        if (client) {
            socket.getOutputStream().write(own);
        }
        byte[] remote = read(own.length);
        if (!client) {
            socket.getOutputStream().write(own);
        }
        return remote;
    }

    @Override
    public PerftestAddress exchange(PerftestAddress own) throws IOException {
        return PerftestAddress.of(exchange(own.bytes()));
    }

    private byte[] read(int n) throws IOException {
        byte[] bytes;
        try {
            bytes = socket.getInputStream().readNBytes(n);
        } catch (SocketTimeoutException e) {
            throw silent(e);
        }
        if (bytes.length < n) {
            throw new PeerException("the peer has gone, or speaks another protocol: it sent " + bytes.length
                    + " of the " + n + " bytes of a message; give both ends the same test and options",
                    new EOFException());
        }
        return bytes;
    }

    /**
     * The peer may still need an answer to its last packet. The programs in C do not read what is sent here, so the
     * connection may be reset.
     */
    @Override
    public void end(boolean agreed) throws IOException {
        try {
            if (agreed) {
                socket.getOutputStream().write(DONE);
            }
            socket.shutdownOutput();
            while (socket.getInputStream().read() >= 0) {
                // its last bytes are irrelevant
            }
        } catch (SocketTimeoutException e) {
            throw silent(e);
        } catch (SocketException e) {
            // it has ended
        }
    }

    private PeerException silent(@Nullable Exception cause) {
        return new PeerException("the peer was silent for " + timeout.toSeconds() + " seconds", new IOException(cause));
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
