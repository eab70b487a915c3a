// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;

import org.verbena.stack.Stack;
import org.verbena.stack.StackConfig;
import org.verbena.stack.TcpServer;
import org.verbena.stack.TcpSocket;
import org.verbena.stack.UdpPeer;
import org.verbena.stack.UdpSocket;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;

/** A program with a stack: {@code DEVICE ADDRESS GATEWAY} echoes at port 7; with {@code PEER COUNT} behind, it asks there and compares. */
final class StackPeer {
    private StackPeer() {}

    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("CapEff:")) {
                System.out.println(line.replaceAll("[:\\s]+", " "));
            }
        }
        try (Context context = Verbs.open(args[0]);
                Stack stack = Stack.open(context, StackConfig.of(args[1]).withGateway(args[2]));
                UdpSocket socket = stack.bindUdp(args.length == 3 ? 7 : 0);
                TcpServer server = stack.listenTcp(args.length == 3 ? 7 : 0, 16)) {
            Thread.ofPlatform().daemon().start(() -> accept(server));
            System.out.println("ready now");
            if (args.length == 3) {
                echo(socket);
            } else {
                InetSocketAddress peer = new InetSocketAddress(args[3], 7);
                System.out.println("answered " + ask(socket, UdpPeer.of(peer), Integer.parseInt(args[4])));
                System.out.println("echoed " + echoed(stack, peer));
            }
        }
    }

    private static void accept(TcpServer server) {
        try {
            while (true) {
                TcpSocket s = server.accept(Duration.ofMinutes(5));
                if (s != null) {
                    Thread.ofVirtual().start(() -> echo(s));
                }
            }
        } catch (IOException e) {
            System.err.println("no more connections: " + e.getMessage());
        }
    }

    private static void echo(TcpSocket socket) {
        try (socket) {
            ByteBuffer b = ByteBuffer.allocateDirect(65_536);
            while (socket.read(b.clear()) >= 0) {
                socket.write(b.flip());
            }
        } catch (IOException e) {
            System.err.println(socket + ": " + e.getMessage());
        }
    }

    /** Sends bytes, has them come back meanwhile, and answers how many were right. */
    private static int echoed(Stack stack, InetSocketAddress peer) throws Exception {
        byte[] sent = new byte[3_000_000];
        new Random(2).nextBytes(sent);
        ByteBuffer got = ByteBuffer.allocate(sent.length + 1);
        try (TcpSocket s = stack.connectTcp(peer, Duration.ofSeconds(60))) {
            Thread writer = Thread.ofPlatform().start(() -> {
                try {
                    s.write(ByteBuffer.wrap(sent));
                    s.shutdownOutput();
                } catch (IOException e) {
                    System.err.println("not sent: " + e.getMessage());
                }
            });
            int n = s.read(got);
            while (n >= 0) {
                n = s.read(got);
            }
            writer.join();
        }
        return got.flip().equals(ByteBuffer.wrap(sent)) ? sent.length : got.mismatch(ByteBuffer.wrap(sent));
    }

    private static void echo(UdpSocket socket) throws Exception {
        ByteBuffer b = ByteBuffer.allocateDirect(65_536);
        UdpPeer from = new UdpPeer();
        while (socket.receive(b.clear(), from, Duration.ofMinutes(5))) {
            try {
                socket.send(b.flip(), from);
            } catch (IOException e) {
                System.err.println("not answered: " + e.getMessage());
            }
        }
    }

    /** Sends datagrams until each was answered; how many it was. An answer that came too late may follow, and be that of the datagram before. */
    private static int ask(UdpSocket socket, UdpPeer peer, int count) throws Exception {
        ByteBuffer got = ByteBuffer.allocateDirect(65_536);
        Random r = new Random(1);
        ByteBuffer before = ByteBuffer.allocate(0);
        for (int i = 0; i < count; i++) {
            byte[] data = new byte[1 + r.nextInt(4000)];
            r.nextBytes(data);
            ByteBuffer sent = ByteBuffer.wrap(data);
            while (true) { // a forwarding kernel drops what comes before it knows the next host
                socket.send(sent.duplicate(), peer);
                boolean came;
                do {
                    came = socket.receive(got.clear(), new UdpPeer(), Duration.ofSeconds(1));
                } while (came && got.flip().equals(before));
                if (came && got.equals(sent)) {
                    break;
                }
                if (came) {
                    throw new AssertionError("datagram " + i + " of " + data.length + " bytes came back with " + got
                            .remaining());
                }
            }
            before = sent;
        }
        return count;
    }
}
