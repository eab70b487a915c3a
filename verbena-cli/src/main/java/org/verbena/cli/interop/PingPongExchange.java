// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.PeerException;

/**
 * The two ends tell each other their addresses over TCP, as the programs {@code ibv_*_pingpong} of rdma-core do: the
 * client its own; the server, when it is ready to receive, its own; the client "done".
 */
final class PingPongExchange implements AutoCloseable {
    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

    private final Socket socket;
    private final PingPongType type;
    private final long limit;

    private PingPongExchange(Socket socket, PingPongType type, Duration timeout) throws SocketException {
        this.socket = socket;
        this.type = type;
        this.limit = timeout.toNanos();
        socket.setTcpNoDelay(true);
    }

    /** Waits for a client as long as it takes. */
    static PingPongExchange accept(ServerSocket listener, PingPongType type, Duration timeout) throws IOException {
        return new PingPongExchange(listener.accept(), type, timeout);
    }

    /** Connects to the first of the host's addresses that answers. */
    static PingPongExchange connect(String host, int port, PingPongType type, Duration timeout) throws IOException {
        IOException failure = null;
        for (InetAddress a : addresses(host)) {
            Socket socket = new Socket();
            try {
                socket.connect(new InetSocketAddress(a, port), (int) timeout.toMillis());
                return new PingPongExchange(socket, type, timeout);
            } catch (IOException e) {
                socket.close();
                failure = e;
            }
        }
        throw new PeerException(sentence(host + ":" + port, type, failure), failure == null
                ? new ConnectException()
                : failure);
    }

    private static InetAddress[] addresses(String host) throws PeerException {
        try {
            return InetAddress.getAllByName(host);
        } catch (UnknownHostException e) {
            throw new PeerException("the host '" + host + "' is not known", e);
        }
    }

    private static String sentence(String where, PingPongType type, @Nullable IOException e) {
        return e instanceof SocketTimeoutException || e instanceof NoRouteToHostException
                ? where + " does not answer"
                : "no listener at " + where + ": start 'verbena pingpong --type " + type + "' or "
                        + type.program() + " there first";
    }

    /** On a client: sends its addresses and returns those of the server. */
    List<PingPongAddress> ask(List<PingPongAddress> own) throws IOException {
        try {
            send(own);
            List<PingPongAddress> remote = receive();
            write(DONE);
            return remote;
        } catch (SocketException e) {
            throw gone(e);
        }
    }

    /** On a server: returns the addresses of the client. */
    List<PingPongAddress> learn() throws IOException {
        try {
            return receive();
        } catch (SocketException e) {
            throw gone(e);
        }
    }

    /** On a server that is ready: sends its addresses and waits until the client knows them. */
    void tell(List<PingPongAddress> own) throws IOException {
        try {
            send(own);
            byte[] _ = read(DONE.length);
        } catch (SocketException e) {
            throw gone(e);
        }
    }

    private static PeerException gone(IOException e) {
        return new PeerException("the peer closed the connection before both ends knew each other: it failed, or is"
                + " not the same program", e);
    }

    private void send(List<PingPongAddress> own) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < type.addresses; i++) {
            all.writeBytes((i < own.size() ? own.get(i) : PingPongAddress.NONE).bytes());
        }
        write(all.toByteArray());
    }

    /** In one write, since the programs in C read a message in one read. */
    private void write(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    private List<PingPongAddress> receive() throws IOException {
        List<PingPongAddress> remote = new ArrayList<>();
        for (int i = 0; i < type.addresses; i++) {
            remote.add(PingPongAddress.of(read(PingPongAddress.BYTES)));
        }
        return remote;
    }

    /** Reads this many bytes within the time limit. */
    private byte[] read(int n) throws IOException {
        long start = System.nanoTime();
        byte[] bytes = new byte[n];
        for (int have = 0; have < n;) {
            long left = (limit - (System.nanoTime() - start)) / 1_000_000;
            socket.setSoTimeout((int) Math.max(1, left));
            try {
                int got = socket.getInputStream().read(bytes, have, n - have);
                if (got < 0) {
                    throw new SocketException("end of stream after " + have + " of " + n + " bytes");
                }
                have += got;
            } catch (SocketTimeoutException e) {
                throw new PeerException("the peer sent " + have + " of the " + n + " bytes of a message and was silent"
                        + " for " + Duration.ofNanos(limit).toSeconds() + " seconds", e);
            }
            if (have < n && left <= 0) {
                throw new PeerException("the peer is too slow: " + have + " of the " + n + " bytes of a message in "
                        + Duration.ofNanos(limit).toSeconds() + " seconds");
            }
        }
        return bytes;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
