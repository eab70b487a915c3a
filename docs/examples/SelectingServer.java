// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;

import org.verbena.erm.*;
import org.verbena.sockets.*;
import org.verbena.verbs.AccessFlags;

/**
 * A server of one thread and one selector, whose clients copy their orders into its memory. It sleeps until there is a client,
 * a byte of a connection, or an event of its remote memory.
 */
public class SelectingServer {
    static final int CLIENTS = 3;
    static final int ORDERS = 4;
    static final int BYTES = 4096;
    static final int WRITABLE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
    static final Duration LONG = Duration.ofSeconds(60);

    public static void main(String[] args) throws Exception {
        try (VerbenaServerSocketChannel listener = VerbenaServerSocketChannel.open();
                Selector selector = listener.provider().openSelector()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listener.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
            List<FutureTask<Void>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(client(listener.getLocalAddress(), i));
            }
            int orders = 0;
            int ended = 0;
            while (ended < CLIENTS) {
                selector.select();
                for (SelectionKey key : selector.selectedKeys()) {
                    if (!key.isValid()) { // of a channel that was closed a moment ago
                        continue;
                    }
                    if (key.isAcceptable()) {
                        Client accepted = new Client(listener.accept());
                        accepted.channel.configureBlocking(false).register(selector, SelectionKey.OP_READ, accepted);
                        RemoteMemory.of(accepted.channel); // asks, and does not wait
                        continue;
                    }
                    Client client = (Client) key.attachment();
                    if (key.channel() != client.channel) {
                        client.takeOrders();
                    } else if (!client.read(selector)) {
                        orders += client.taken;
                        ended++;
                    }
                }
                selector.selectedKeys().clear();
            }
            for (FutureTask<Void> c : clients) {
                c.get();
            }
            System.out.println(orders + " orders of " + CLIENTS + " clients");
        }
    }

    /** One of the server's connections. */
    static class Client {
        final SocketChannel channel;
        final ByteBuffer bytes = ByteBuffer.allocateDirect(16);
        RemoteMemory memory;
        LocalRegion orders;
        int taken;

        Client(SocketChannel channel) {
            this.channel = channel;
        }

        /** The first byte says that the client has remote memory. False at the end of the stream. */
        boolean read(Selector selector) throws Exception {
            if (channel.read(bytes.clear()) < 0) {
                channel.close(); // takes its remote memory with it
                return false;
            }
            if (memory == null) {
                memory = memoryOf(channel);
                memory.readiness(RemoteMemory.EVENTS).register(selector, SelectionKey.OP_READ, this);
                orders = memory.allocate(BYTES, WRITABLE, 0);
                takeOrders(); // the first may be there already
            }
            return true;
        }

        /** Polls until nothing is there, so that the next event wakes the selector. */
        void takeOrders() throws IOException {
            EventQueue events = memory.events();
            while (events.poll() || memory.arm(RemoteMemory.EVENTS) && events.poll()) {
                if (events.type() == EventType.COPIED) {
                    String order = orders.segment().getString(events.offset());
                    if (!order.startsWith("order ")) {
                        throw new IOException("no order: " + order);
                    }
                    taken++;
                    channel.write(ByteBuffer.wrap(new byte[] {1})); // its memory may be used again
                }
            }
        }
    }

    static FutureTask<Void> client(SocketAddress address, int number) {
        FutureTask<Void> task = new FutureTask<>(() -> {
            try (VerbenaSocketChannel channel = VerbenaSocketChannel.open()) {
                channel.connect(address);
                RemoteMemory memory = memoryOf(channel);
                LocalRegion from = memory.allocate(BYTES, WRITABLE, 0);
                channel.write(ByteBuffer.wrap(new byte[] {0}));
                int to = regionOf(memory);
                ByteBuffer answer = ByteBuffer.allocateDirect(1);
                for (int i = 0; i < ORDERS; i++) {
                    String order = "order " + i + " of client " + number;
                    from.segment().setString(0, order);
                    int error = memory.copies().copy(from.id(), 0, to, 0, order.length() + 1,
                            CopyFlags.REMOTE_COMPLETION | CopyFlags.UNSIGNALED, i);
                    if (error != 0 || channel.read(answer.clear()) < 0) {
                        throw new IOException("error " + error + ", " + memory.endReason());
                    }
                }
            }
            return null;
        });
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    static RemoteMemory memoryOf(SocketChannel channel) throws Exception {
        Optional<RemoteMemory> memory = RemoteMemory.of(channel, LONG);
        return memory.orElseThrow(() -> new IOException(RemoteMemory.whyNot(channel)));
    }

    /** The server's region, once it has told of it. */
    static int regionOf(RemoteMemory memory) throws Exception {
        while (!memory.events().poll()) {
            memory.await(RemoteMemory.EVENTS, LONG);
        }
        return memory.events().region();
    }
}
