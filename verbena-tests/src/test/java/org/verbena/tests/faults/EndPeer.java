// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A program that knows nothing of Verbena, and ends its connections, or itself, in every way; or observes the end of
 * its peer. One command per line, and one line for each answer. The argument is the server's address, loopback without
 * one.
 */
final class EndPeer {
    private static final int UNREAD = 1000;
    private static final int PINGS = 3;
    private static final int FEW = 10;
    private static final int MOST_WRITES = 20_000;
    private static final long DECIDED_MILLIS = 30_000;

    private final InetAddress server;
    private final ServerSocketChannel channels;
    private final ServerSocket classic;
    private final List<Connection> connections = new ArrayList<>();

    /** A socket, and its channel if it has one that the program opened. */
    private record Connection(Socket socket, SocketChannel channel) {
        void write(int bytes) throws IOException {
            if (channel == null) {
                socket.getOutputStream().write(new byte[bytes]);
            } else {
                channel.write(ByteBuffer.allocate(bytes));
            }
        }

        int read(int bytes) throws IOException {
            return channel == null
                    ? socket.getInputStream().read(new byte[bytes])
                    : channel.read(ByteBuffer.allocate(bytes));
        }

        void readAll(int bytes) throws IOException {
            for (int left = bytes; left > 0;) {
                left -= read(left);
            }
        }

        void close() throws IOException {
            if (channel == null) {
                socket.close();
            } else {
                channel.close();
            }
        }

        String transport() throws IOException {
            Set<SocketOption<?>> options = channel == null ? socket.supportedOptions() : channel.supportedOptions();
            for (SocketOption<?> o : options) {
                if (o.name().equals("VERBENA_TRANSPORT")) {
                    return String.valueOf(channel == null ? socket.getOption(o) : channel.getOption(o));
                }
            }
            return "none";
        }
    }

    private EndPeer(InetAddress server) throws IOException {
        this.server = server;
        InetAddress own = server.isLoopbackAddress() ? server : null; // else of this host or another
        channels = ServerSocketChannel.open();
        channels.bind(new InetSocketAddress(own, 0));
        classic = new ServerSocket(0, 50, own);
    }

    public static void main(String[] args) throws Exception {
        EndPeer peer = new EndPeer(args.length == 0
                ? InetAddress.getLoopbackAddress()
                : InetAddress.ofLiteral(args[0]));
        System.out.println("PORTS " + ((InetSocketAddress) peer.channels.getLocalAddress()).getPort() + " "
                + peer.classic.getLocalPort());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("return")) {
                return;
            }
            System.out.println(peer.run(line.split(" ", -1)));
        }
        System.exit(0);
    }

    private String run(String[] words) throws Exception {
        switch (words[0]) {
            case "connect" -> {
                InetSocketAddress to = new InetSocketAddress(server, Integer.parseInt(words[2]));
                SocketChannel c = words[1].equals("channel") ? SocketChannel.open(to) : null;
                Socket s = c == null ? new Socket(to.getAddress(), to.getPort()) : c.socket();
                connections.add(new Connection(s, c));
                return "CONNECTED " + s.getLocalPort();
            }
            case "accept" -> {
                SocketChannel c = words[1].equals("channel") ? channels.accept() : null;
                connections.add(new Connection(c == null ? classic.accept() : c.socket(), c));
                return "ACCEPTED";
            }
            case "decide" -> {
                return "DECIDED " + decide();
            }
            case "ping" -> {
                for (Connection c : connections) {
                    for (int i = 0; i < PINGS; i++) {
                        c.write(1);
                        c.readAll(1);
                    }
                }
                return "PINGED";
            }
            case "pong" -> {
                for (Connection c : connections) {
                    for (int i = 0; i < PINGS; i++) {
                        c.readAll(1);
                        c.write(1);
                    }
                }
                return "PONGED";
            }
            case "send" -> {
                of(words).write(UNREAD);
                return "SENT";
            }
            case "arrived" -> {
                while (of(words).socket.getInputStream().available() < UNREAD) {
                    Thread.onSpinWait();
                }
                return "HERE";
            }
            case "take" -> {
                of(words).readAll(UNREAD);
                return "TAKEN";
            }
            case "do" -> {
                end(words[2], of(words));
                return "DONE";
            }
            case "urgent" -> { // from here on TCP carries what this end sends
                of(words).socket.sendUrgentData(0);
                return "URGENT";
            }
            case "shut" -> {
                of(words).socket.shutdownInput();
                return "SHUT";
            }
            case "see" -> {
                return "SEEN " + see(of(words), words[2]);
            }
            case "forget" -> {
                for (Connection c : connections) {
                    c.close();
                }
                connections.clear();
                return "FORGOTTEN";
            }
            case "exit" -> System.exit(0);
            case "halt" -> Runtime.getRuntime().halt(0);
            default -> throw new IllegalArgumentException(words[0]);
        }
        return "";
    }

    private Connection of(String[] words) {
        return connections.get(Integer.parseInt(words[1]));
    }

    private String decide() throws Exception {
        long end = System.currentTimeMillis() + DECIDED_MILLIS;
        StringBuilder all = new StringBuilder();
        for (Connection c : connections) {
            while (c.transport().equals("undecided") && System.currentTimeMillis() < end) {
                Thread.sleep(1);
            }
            all.append(c.transport()).append(' ');
        }
        return all.toString().trim();
    }

    private static void end(String way, Connection c) throws IOException {
        switch (way) {
            case "close" -> {}
            case "linger" -> c.socket.setSoLinger(true, 0);
            case "input" -> c.socket.shutdownInput();
            case "output" -> c.socket.shutdownOutput();
            case "both" -> {
                c.socket.shutdownInput();
                c.socket.shutdownOutput();
            }
            default -> throw new IllegalArgumentException(way);
        }
        c.close();
    }

    // what the other end sees

    /** A way to write a few bytes. */
    private interface Writer {
        void write() throws IOException;
    }

    private static String see(Connection c, String look) throws IOException {
        Writer writer = () -> c.write(FEW);
        switch (look) {
            case "read" -> {
                return readOnce(c) + ", " + readOnce(c) + ", " + writeUntilItFails(writer);
            }
            case "shut" -> { // nothing reports when the end has arrived: whether a write is accepted before that is undetermined
                return firstError(writer) + ", " + writeUntilItFails(writer) + ", " + readOnce(c);
            }
            case "transfer", "urgent, transfer" -> {
                Path file = Files.write(Files.createTempFile("few", ""), new byte[FEW]);
                try (FileChannel from = FileChannel.open(file)) {
                    return seeByWriting(c, () -> from.transferTo(0, FEW, c.channel));
                } finally {
                    Files.delete(file);
                }
            }
            case "urgent" -> {
                return seeByWriting(c, () -> c.socket.sendUrgentData(0));
            }
            default -> {
                return seeByWriting(c, writer);
            }
        }
    }

    /** The end is known when the channel can be read, which is not done before. */
    private static String seeByWriting(Connection c, Writer writer) throws IOException {
        c.channel.configureBlocking(false);
        try (Selector selector = Selector.open()) {
            c.channel.register(selector, SelectionKey.OP_READ);
            selector.select();
        }
        c.channel.configureBlocking(true);
        return writeUntilItFails(writer) + ", " + readOnce(c);
    }

    private static String readOnce(Connection c) {
        try {
            return "reads " + c.read(FEW);
        } catch (IOException e) {
            return "reads " + e;
        }
    }

    /** The first write fails, with the expected exception: the kernel may accept another one before it knows. */
    private static String writeUntilItFails(Writer writer) {
        String first = "";
        for (int i = 0; i < MOST_WRITES; i++) {
            try {
                writer.write();
                first = first.isEmpty() ? "writes " + FEW : first;
                Thread.sleep(1);
            } catch (IOException e) {
                return first.isEmpty() ? "writes " + e : first + ", then " + e;
            } catch (InterruptedException e) {
                return "interrupted";
            }
        }
        return first + " for ever";
    }

    private static String firstError(Writer writer) {
        return writeUntilItFails(writer).replace("writes " + FEW + ", then", "writes");
    }
}
