package org.verbena.cli;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * What the two ends of perftest tell each other over TCP. Each exchange is as long in both directions; the client speaks
 * first.
 */
final class PerftestExchange implements AutoCloseable {
    /** Of the protocol; perftest 4.5 says this one, and takes all from 5.70. */
    private static final String VERSION = "6.06";
    private static final double OLDEST = 5.70;
    private static final int VERSION_BYTES = 16;
    private static final int MTU_BYTES = 2;
    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

    private final Socket socket;
    private final boolean client;
    private final Duration timeout;

    private PerftestExchange(Socket socket, boolean client, Duration timeout) throws IOException {
        this.socket = socket;
        this.client = client;
        this.timeout = timeout;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(Math.toIntExact(timeout.toMillis()));
    }

    /** Waits for a client as long as it takes. */
    static PerftestExchange accept(ServerSocket listener, Duration timeout) throws IOException {
        return new PerftestExchange(listener.accept(), false, timeout);
    }

    static PerftestExchange connect(String host, int port, PerftestType type, Duration timeout) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(host, port), Math.toIntExact(timeout.toMillis()));
            return new PerftestExchange(socket, true, timeout);
        } catch (IOException e) {
            socket.close();
            throw new PeerException("nobody answers at " + host + ":" + port + ": start 'verbena perftest " + type
                    + "' or " + type.program() + " there first", e);
        }
    }

    /** Tells versions; a peer that is too old to be understood is refused. */
    void versions() throws IOException {
        byte[] own = Arrays.copyOf(VERSION.getBytes(StandardCharsets.US_ASCII), VERSION_BYTES);
        String remote = text(exchange(own));
        try {
            if (Double.parseDouble(remote) < OLDEST) {
                throw new PeerException("the peer speaks version " + remote + " of perftest's protocol; 5.70 or newer"
                        + " is needed");
            }
        } catch (NumberFormatException e) {
            throw new PeerException("the peer is none of perftest: its version is '" + CopyText.printable(remote)
                    + "'", e);
        }
    }

    /** The larger of the two ends' numbers. */
    int largest(int own, int limit, String what) throws IOException {
        int remote = ByteBuffer.wrap(exchange(ByteBuffer.allocate(Integer.BYTES).putInt(own).array())).getInt();
        if (remote < 0 || remote > limit) {
            throw new PeerException("the peer's " + what + " is " + Integer.toUnsignedString(remote) + ", and "
                    + limit + " is the most that is understood");
        }
        return Math.max(own, remote);
    }

    /** The smaller of the two ends' path MTUs, in bytes. */
    int mtu(int own) throws IOException {
        int code = Integer.numberOfTrailingZeros(own) - 7;
        String remote = text(exchange(Arrays.copyOf(Integer.toString(code).getBytes(StandardCharsets.US_ASCII),
                MTU_BYTES)));
        if (!remote.matches("[1-5]")) {
            throw new PeerException("the peer is none of perftest: its MTU is '" + CopyText.printable(remote) + "'");
        }
        return Math.min(own, 128 << Integer.parseInt(remote));
    }

    PerftestAddress addresses(PerftestAddress own) throws IOException {
        return PerftestAddress.of(exchange(own.bytes()));
    }

    /** The results of bandwidth tests; the peer's. */
    PerftestReport reports(PerftestReport own) throws IOException {
        long size = number(own.size());
        long iterations = number(own.iterations());
        double peak = number(own.peak());
        double average = number(own.average());
        return new PerftestReport(size, iterations, peak, average, number(own.messages()));
    }

    private double number(double own) throws IOException {
        return Double.longBitsToDouble(number(Double.doubleToRawLongBits(own)));
    }

    private long number(long own) throws IOException {
        return ByteBuffer.wrap(exchange(ByteBuffer.allocate(Long.BYTES).putLong(own).array())).getLong();
    }

    /**
     * Says that all is done, if the test ends so, and waits until the peer has ended, too, which may still want an answer
     * to its last packet. The programs in C do not read what is said here, so the connection may be reset.
     */
    void end(boolean done) throws IOException {
        try {
            if (done) {
                socket.getOutputStream().write(DONE);
            }
            socket.shutdownOutput();
            while (socket.getInputStream().read() >= 0) {
                // what it says at the end is of no interest
            }
        } catch (SocketTimeoutException e) {
            throw silent(e);
        } catch (SocketException e) {
            // it has ended
        }
    }

    private byte[] exchange(byte[] own) throws IOException {
        if (client) {
            socket.getOutputStream().write(own);
        }
        byte[] remote = read(own.length);
        if (!client) {
            socket.getOutputStream().write(own);
        }
        return remote;
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
                    + " of the "
                    + n + " bytes of a message; give both ends the same test and options", new EOFException());
        }
        return bytes;
    }

    private PeerException silent(@Nullable Exception cause) {
        return new PeerException("the peer was silent for " + timeout.toSeconds() + " seconds", new IOException(cause));
    }

    private static String text(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        int end = text.indexOf('\0');
        return end < 0 ? text : text.substring(0, end);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
