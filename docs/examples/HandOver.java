// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.FutureTask;

import org.verbena.erm.*;
import org.verbena.sockets.*;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.WcStatus;

/**
 * Hands large messages to the other end of a connection: by the stream, and by copies into memory that the other end has
 * registered once, which tell it where each message lies. Prints both rates.
 */
public class HandOver {
    static final int MESSAGE = 1 << 20;
    static final int SLOTS = 4;
    static final int MESSAGES = 500;
    static final int WRITABLE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
    static final Duration LONG = Duration.ofSeconds(60);

    /** One half of the work. */
    interface Half {
        void run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        try (VerbenaServerSocketChannel server = VerbenaServerSocketChannel.open();
                VerbenaSocketChannel client = VerbenaSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            client.connect(server.getLocalAddress());
            try (SocketChannel accepted = server.accept()) {
                RemoteMemory.of(client); // asks, and does not wait: both ends have to ask
                RemoteMemory receiver = remoteMemory(accepted);
                RemoteMemory sender = remoteMemory(client);
                LocalRegion from = sender.allocate(SLOTS * MESSAGE, WRITABLE, 0);
                LocalRegion to = receiver.allocate(SLOTS * MESSAGE, WRITABLE, 0);
                int slots = await(sender, EventType.REGION_ADDED); // the receiver's memory, where messages go
                int back = await(receiver, EventType.REGION_ADDED); // the sender's, to which nothing is copied

                System.out.println(MESSAGES + " messages of " + MESSAGE + " bytes");
                System.out.printf(Locale.ROOT, "by the stream: %.2f GB/s%n", rate(() -> write(client), () -> read(accepted)));
                System.out.printf(Locale.ROOT, "by remote memory: %.2f GB/s%n", rate(() -> handOver(sender, from, slots),
                        () -> takeOver(receiver, to, back)));
            }
        }
    }

    static RemoteMemory remoteMemory(SocketChannel channel) throws Exception {
        return RemoteMemory.of(channel, LONG).orElseThrow(() -> new IOException(RemoteMemory.whyNot(channel)));
    }

    static double rate(Half sends, Half receives) throws Exception {
        FutureTask<Void> other = new FutureTask<>(() -> {
            receives.run();
            return null;
        });
        long began = System.nanoTime();
        Thread.ofPlatform().daemon().start(other);
        sends.run();
        other.get();
        return (double) MESSAGES * MESSAGE / (System.nanoTime() - began);
    }

    // ---- by the stream: each message goes into the ring, and out of it

    static void write(SocketChannel channel) throws IOException {
        ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE).order(ByteOrder.nativeOrder());
        for (long n = 0; n < MESSAGES; n++) {
            message.clear().putLong(0, n);
            while (message.hasRemaining()) {
                channel.write(message);
            }
        }
    }

    static void read(SocketChannel channel) throws IOException {
        ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE).order(ByteOrder.nativeOrder());
        for (long n = 0; n < MESSAGES; n++) {
            message.clear();
            while (message.hasRemaining()) {
                channel.read(message);
            }
            expect(n, message.getLong(0));
        }
    }

    // ---- by remote memory: each message is copied once, to where the receiver uses it

    static void handOver(RemoteMemory memory, LocalRegion from, int slots) throws Exception {
        CopyQueue copies = memory.copies();
        for (long n = 0; n < MESSAGES; n++) {
            if (n >= SLOTS) {
                await(memory, EventType.COPIED); // the receiver gives a slot back
            }
            long at = n % SLOTS * MESSAGE;
            from.segment().set(ValueLayout.JAVA_LONG, at, n); // the message is made where it is copied from
            expect(0, copies.copy(from.id(), at, slots, at, MESSAGE, CopyFlags.REMOTE_COMPLETION, n, n));
            while (copies.poll()) {
                expect(WcStatus.SUCCESS, copies.status());
            }
        }
        for (int i = 0; i < SLOTS; i++) {
            await(memory, EventType.COPIED);
        }
    }

    static void takeOver(RemoteMemory memory, LocalRegion to, int back) throws Exception {
        CopyQueue copies = memory.copies();
        for (long n = 0; n < MESSAGES; n++) {
            await(memory, EventType.COPIED);
            expect(n, memory.events().userData());
            expect(n, to.segment().get(ValueLayout.JAVA_LONG, memory.events().offset())); // it is used where it lies
            expect(0, copies.copy(to.id(), 0, back, 0, 0, CopyFlags.REMOTE_COMPLETION, n)); // of nothing: an event alone
            while (copies.poll()) {
                expect(WcStatus.SUCCESS, copies.status());
            }
        }
    }

    /** Waits for an event, at first without sleeping; answers its region. */
    static int await(RemoteMemory memory, int type) throws InterruptedException {
        for (int turns = 0; !memory.events().poll(); turns++) {
            if (turns < 10_000) {
                Thread.onSpinWait();
            } else {
                memory.await(RemoteMemory.EVENTS, LONG);
            }
        }
        expect(type, memory.events().type());
        return memory.events().region();
    }

    static void expect(long wanted, long value) {
        if (value != wanted) {
            throw new IllegalStateException(value + " instead of " + wanted);
        }
    }
}
