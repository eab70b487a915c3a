// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import org.verbena.sockets.Verbena;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.extra.ExtraApi;
import org.verbena.sockets.extra.ExtraFunction;
import org.verbena.sockets.extra.ReceiveFlags;
import org.verbena.sockets.extra.ReceivedPackets;

/**
 * A program that receives without a copy where it can, and reads where there is no Extra API: {@code send PORT BYTES} and {@code receive}. What it has
 * received it holds, and compares again when its peer has ended. {@code send PORT 0} sends little by rings, and says what it then reads; {@code hold} holds that until it is
 * told to close the channel.
 */
public final class Packets {
    private static byte at(long position) {
        return (byte) (position * 31 + (position >>> 8) * 7 + (position >>> 17));
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("send")) {
            send(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        } else if (args[0].equals("receive")) {
            receive();
        } else if (args[0].equals("hold")) {
            hold(Verbena.extraApi().get());
        } else {
            System.out.println("api " + Verbena.extraApi().isPresent());
        }
    }

    private static void send(int port, int count) throws Exception {
        try (SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
            long sent = 0;
            while (isUndecided(channel)) {
                sent += send(channel, sent, 1000);
                Thread.sleep(1); // as a program that has nothing to do until then
            }
            sent += send(channel, sent, 1000);
            for (long before = sent; sent < before + count;) {
                sent += send(channel, sent, 50_000);
            }
            System.out.println(sent);
            if (count > 0) {
                System.in.read();
                return;
            }
            String end;
            try {
                end = "read " + channel.read(ByteBuffer.allocate(1));
            } catch (java.io.IOException e) {
                end = e.getMessage();
            }
            System.out.println(end);
        }
    }

    /** Whether rings may come yet. */
    private static boolean isUndecided(SocketChannel channel) {
        return channel instanceof VerbenaSocketChannel v && !v.isOutputByRing() && v.fallbackReason().isEmpty();
    }

    private static int send(SocketChannel channel, long position, int count) throws Exception {
        ByteBuffer all = ByteBuffer.allocate(count);
        for (int i = 0; i < count; i++) {
            all.put(i, at(position + i));
        }
        while (all.hasRemaining()) {
            channel.write(all);
        }
        return count;
    }

    private static void receive() throws Exception {
        Optional<ExtraApi> api = Verbena.extraApi().filter(a -> a.functions().contains(ExtraFunction.RECEIVE_ZERO_COPY));
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            System.out.println(server.socket().getLocalPort());
            try (SocketChannel channel = server.accept()) {
                if (api.isPresent()) {
                    receive(api.get(), channel);
                } else {
                    read(channel);
                }
            }
        }
    }

    private static void hold(ExtraApi api) throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            System.out.println(server.socket().getLocalPort());
            try (SocketChannel channel = server.accept()) {
                ReceivedPackets packets = api.newPackets(16, 32);
                while (api.heldPackets(channel) == 0) {
                    api.receive(channel, packets, ByteBuffer.allocate(1000), ReceiveFlags.NONE);
                }
                System.out.println("holds");
                System.in.read();
            }
        }
    }

    private static void read(SocketChannel channel) throws Exception {
        ByteBuffer buffer = ByteBuffer.allocate(10_000);
        long position = 0;
        while (channel.read(buffer.clear()) >= 0) {
            check(buffer.flip(), position);
            position += buffer.limit();
        }
        System.out.println("read " + position);
    }

    private static void check(ByteBuffer got, long position) {
        for (int i = 0; i < got.limit(); i++) {
            if (got.get(i) != at(position + i)) {
                throw new AssertionError("byte " + (position + i));
            }
        }
    }

    private static void receive(ExtraApi api, SocketChannel channel) throws Exception {
        ByteBuffer copy = ByteBuffer.allocate(10_000);
        List<ReceivedPackets> held = new ArrayList<>();
        List<Long> starts = new ArrayList<>();
        long position = 0;
        long copied = 0;
        String end = "the end";
        try {
            while (true) {
                ReceivedPackets packets = api.newPackets(16, 32);
                int n = api.receive(channel, packets, copy.clear(), ReceiveFlags.NONE);
                if (n < 0) {
                    break;
                }
                if (packets.isZeroCopy()) {
                    held.add(packets);
                    starts.add(position);
                } else {
                    check(copy.flip(), position);
                    copied += n;
                }
                position += n;
            }
        } catch (java.io.IOException e) {
            end = e.getMessage();
        }
        int packets = api.heldPackets(channel);
        System.gc();
        channel.close();
        for (int i = 0; i < held.size(); i++) {
            long start = starts.get(i);
            for (int p = 0; p < held.get(i).count(); p++) {
                ByteBuffer got = ByteBuffer.allocate(held.get(i).length(p));
                held.get(i).copy(p, 0, got);
                check(got.flip(), start);
                start += got.limit();
            }
        }
        for (int i = held.size() - 1; i >= 0; i--) {
            api.freePackets(channel, held.get(i));
        }
        System.out.println("received " + position + ", copied " + (copied > 0) + ", packets " + (packets > 0) + ", held "
                + api.heldPackets(channel) + ", " + end);
    }
}
