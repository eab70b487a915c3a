// SPDX-License-Identifier: Apache-2.0
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

import org.verbena.sockets.*;
import org.verbena.sockets.extra.*;

/** Receives words by the Extra API without a copy, keeps the first one while others come, and frees it last. */
public class ZeroCopyPackets {
    public static void main(String[] args) throws Exception {
        try (VerbenaServerSocketChannel server = VerbenaServerSocketChannel.open();
                VerbenaSocketChannel client = VerbenaSocketChannel.open()) {
            ExtraApi extra = Verbena.extraApi().orElse(null);
            if (extra == null || !extra.functions().contains(ExtraFunction.RECEIVE_ZERO_COPY)) {
                System.out.println("no Extra API: read as ever");
                return;
            }
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            client.connect(server.getLocalAddress());
            try (SocketChannel accepted = server.accept()) {
                receive(extra, client, accepted);
            }
        }
    }

    static void receive(ExtraApi extra, SocketChannel from, SocketChannel to) throws Exception {
        ReceivedPackets packets = extra.newPackets(16, 32);
        ByteBuffer copy = ByteBuffer.allocate(64 << 10); // for what TCP brings before there are rings
        int copied = 0;
        do {
            send(from, "hello");
            extra.receive(to, packets, copy.clear(), ReceiveFlags.NONE);
            copied += packets.isZeroCopy() ? 0 : 1;
        } while (!packets.isZeroCopy());
        long first = packets.id(0); // the next receive forgets it, and it is held until it is freed
        ReceivedPackets kept = packets;

        packets = extra.newPackets(16, 32);
        for (String word : new String[] {"to", "the", "ring"}) {
            send(from, word);
            int n = extra.receive(to, packets, null, ReceiveFlags.FORCE); // without a copy, or not at all
            System.out.println(n + " bytes in " + packets.count() + " packet, the first one is '"
                    + (char) packets.memory(0, 0).get(ValueLayout.JAVA_BYTE, packets.offset(0, 0)) + "'");
            extra.freePackets(to, packets);
        }
        copy.clear();
        kept.copy(0, 0, copy);
        System.out.println("still there: " + StandardCharsets.UTF_8.decode(copy.flip()) + ", held: " + extra.heldPackets(to)
                + ", copied before: " + (copied > 0));
        extra.freePacket(to, first);
        extra.dumpStatistics(to, line -> {
            if (line.startsWith("- TCP") || line.contains("zero copy")) {
                System.out.println(line);
            }
        });
    }

    static void send(SocketChannel to, String word) throws Exception {
        to.write(ByteBuffer.wrap(word.getBytes(StandardCharsets.UTF_8)));
    }
}
