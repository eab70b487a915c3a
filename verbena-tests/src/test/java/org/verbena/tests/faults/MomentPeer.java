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
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * A program that knows nothing of Verbena, with traffic of all kinds on its connections, until it, the other end or the
 * connections are ended. A command a line, and a line for an answer.
 */
final class MomentPeer {
    private static final long TOLD_NANOS = 30_000_000_000L;
    private static final long DECIDED_MILLIS = 30_000;

    private final ServerSocketChannel channels;
    private final ServerSocket classic;
    private final MomentNotes notes;
    private final List<Socket> sockets = new ArrayList<>();
    private final List<MomentFlow> flows = new ArrayList<>();
    private CountDownLatch over = new CountDownLatch(1);
    private boolean client;

    private MomentPeer(Path file) throws IOException {
        notes = new MomentNotes(file);
        channels = ServerSocketChannel.open();
        channels.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        classic = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    /** The file of its notes. */
    public static void main(String[] args) throws Exception {
        MomentPeer peer = new MomentPeer(Path.of(args[0]));
        System.out.println("PORTS " + ((InetSocketAddress) peer.channels.getLocalAddress()).getPort() + " "
                + peer.classic.getLocalPort());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("return")) {
                return;
            }
            peer.run(line.split(" ", -1));
        }
        System.exit(0);
    }

    private void run(String[] words) throws Exception {
        switch (words[0]) {
            case "connect" -> {
                client = true;
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    int port = Integer.parseInt(words[2 + i % 2]);
                    sockets.add(i % 2 == 0
                            ? SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).socket()
                            : new Socket(InetAddress.getLoopbackAddress(), port));
                }
                StringBuilder connected = new StringBuilder("CONNECTED");
                sockets.forEach(s -> connected.append(' ').append(s.getLocalPort()));
                System.out.println(connected);
            }
            case "accept" -> {
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    sockets.add(i % 2 == 0 ? channels.accept().socket() : classic.accept());
                }
                System.out.println("ACCEPTED");
            }
            case "decide" -> {
                long end = System.currentTimeMillis() + DECIDED_MILLIS;
                for (Socket s : sockets) {
                    while (transport(s).equals("undecided") && System.currentTimeMillis() < end) {
                        Thread.sleep(1);
                    }
                }
                System.out.println("DECIDED " + transport(sockets.getFirst()));
            }
            case "flow" -> {
                long seed = Long.parseLong(words[1]);
                for (int i = 0; i < sockets.size(); i++) {
                    Socket s = sockets.get(i);
                    flows.add(new MomentFlow(i, MomentFlow.kind(i), client, s, s.getChannel(), notes, seed + i,
                            over));
                }
                flows.forEach(MomentFlow::start);
                System.out.println("FLOWING");
            }
            case "seen" -> {
                over.countDown();
                long end = System.nanoTime() + TOLD_NANOS;
                boolean all = true;
                for (MomentFlow f : flows) {
                    all &= f.hasEnded(end);
                }
                StringBuilder seen = new StringBuilder(all ? "SEEN" : "HANGS");
                for (int i = 0; i < flows.size(); i++) {
                    seen.append(' ').append(transport(sockets.get(i))).append('|').append(flows.get(i).seen(Long
                            .parseLong(words[1]), Long.parseLong(words[2])).replace(' ', '_'));
                }
                System.out.println(seen);
            }
            case "forget" -> {
                for (Socket s : sockets) {
                    s.close();
                }
                sockets.clear();
                flows.clear();
                over = new CountDownLatch(1);
                System.out.println("FORGOTTEN");
            }
            case "exit" -> System.exit(0);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private static String transport(Socket s) throws IOException {
        SocketChannel channel = s.getChannel();
        if (channel == null ? s.isClosed() : !channel.isOpen()) {
            return "closed";
        }
        Set<SocketOption<?>> options = channel == null ? s.supportedOptions() : channel.supportedOptions();
        for (SocketOption<?> o : options) {
            if (o.name().equals("VERBENA_TRANSPORT")) {
                return String.valueOf(channel == null ? s.getOption(o) : channel.getOption(o));
            }
        }
        return "none";
    }
}
