// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32C;

import org.junit.jupiter.api.Test;

import org.verbena.linux.XdpAttachment;
import org.verbena.testkit.Await;

/** Several processes with flows on one interface, of which each may be killed, beside a connection of the kernel. */
class SharedInterfaceTest {
    private static final int TAKEN = 4000;
    private static final int DROPPED = 4001;
    private static final int WATCHED = 4002;
    private static final int TCP = 7777;

    private static Path folder(KernelLink link) throws IOException {
        return Path.of("/sys/fs/bpf/verbena/" + Files.readSymbolicLink(Path.of("/proc/thread-self/ns/net")).toString()
                .replaceAll("[^0-9]", "") + "-" + link.one);
    }

    private static boolean isAttached(KernelLink link) throws IOException {
        return XdpAttachment.of(link.netlink, link.one).isPresent();
    }

    // ---- a connection of the kernel from the peer

    /** How many bytes, and their sum. */
    private record Sum(long bytes, long crc) {}

    private static FutureTask<Sum> sending(KernelLink link, AtomicBoolean enough) throws Exception {
        FutureTask<Sum> task = new FutureTask<>(() -> {
            CRC32C crc = new CRC32C();
            long bytes = 0;
            byte[] data = new byte[16 << 10];
            Random random = new Random(1);
            try (SocketChannel channel = SocketChannel.open(new InetSocketAddress(RawLink.KERNEL, TCP))) {
                while (!enough.get()) {
                    random.nextBytes(data);
                    crc.update(data);
                    ByteBuffer b = ByteBuffer.wrap(data);
                    while (b.hasRemaining()) {
                        bytes += channel.write(b);
                    }
                    Thread.sleep(1); // for the others, too
                }
            }
            return new Sum(bytes, crc.getValue());
        });
        link.peer(() -> {
            Thread.ofPlatform().daemon().start(task);
            return "";
        });
        return task;
    }

    private static FutureTask<Sum> receiving(ServerSocketChannel server) {
        FutureTask<Sum> task = new FutureTask<>(() -> {
            CRC32C crc = new CRC32C();
            long bytes = 0;
            try (SocketChannel channel = server.accept()) {
                ByteBuffer b = ByteBuffer.allocateDirect(1 << 16);
                while (channel.read(b) >= 0) {
                    bytes += b.flip().remaining();
                    crc.update(b);
                    b.clear();
                }
            }
            return new Sum(bytes, crc.getValue());
        });
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    private static void send(KernelLink link, int port, int times) throws Exception {
        link.peer(() -> {
            try (DatagramChannel channel = DatagramChannel.open()) {
                for (int i = 0; i < times; i++) {
                    channel.send(ByteBuffer.wrap(new byte[20]), new InetSocketAddress(RawLink.KERNEL, port));
                }
            }
            return "";
        });
    }

    private static int received(DatagramChannel channel, int expected) throws Exception {
        int[] n = {0};
        ByteBuffer b = ByteBuffer.allocate(100);
        Await.until("datagrams of the kernel", () -> {
            while (channel.receive(b.clear()) != null) {
                n[0]++;
            }
            return n[0] >= expected;
        });
        return n[0];
    }

    private static void awaitCount(SharedMember member, int port, long count) throws Exception {
        Await.until("a count of " + count + " at port " + port, () -> member.number("count " + port) == count);
    }

    /** What each of three processes does, and how much it has counted. */
    private static final class Three implements AutoCloseable {
        private static final List<String> ROLES = List.of("take " + TAKEN, "drop " + DROPPED, "watch " + WATCHED);
        final List<SharedMember> members = new ArrayList<>();
        private final long[] counts = new long[3];
        private final KernelLink link;
        private final DatagramChannel[] sockets = new DatagramChannel[3];

        Three(KernelLink link) throws Exception {
            this.link = link;
            for (int i = 0; i < 3; i++) {
                members.add(SharedMember.start("one"));
                sockets[i] = DatagramChannel.open().bind(new InetSocketAddress(RawLink.KERNEL, TAKEN + i));
                sockets[i].configureBlocking(false);
            }
            for (int i = 0; i < 3; i++) {
                members.get(i).tell(ROLES.get(i)); // all at once
            }
            for (int i = 0; i < 3; i++) {
                assertThat(members.get(i).answer()).isEqualTo("done");
            }
        }

        void kill(int which) throws Exception {
            members.get(which).kill();
            counts[which] = 0;
        }

        void restart(int which) throws Exception {
            members.set(which, SharedMember.start("one"));
            assertThat(members.get(which).ask(ROLES.get(which))).isEqualTo("done");
        }

        /** The flows of all that are alive do their work; those of the others are not there. */
        void check(int killed) throws Exception {
            int[] toKernel = {0, 0, 5};
            for (int i = 0; i < 3; i++) {
                send(link, TAKEN + i, 5);
                if (i == killed) {
                    toKernel[i] = 5;
                } else {
                    counts[i] += 5;
                    awaitCount(members.get(i), TAKEN + i, counts[i]);
                }
                assertThat(received(sockets[i], toKernel[i])).as("port %d", TAKEN + i).isEqualTo(toKernel[i]);
            }
            if (killed != 0) {
                int[] n = {0};
                Await.until("5 packets at the queue pair", () -> {
                    n[0] += (int) members.getFirst().number("received");
                    return n[0] == 5;
                });
            }
        }

        @Override
        public void close() throws Exception {
            members.forEach(SharedMember::close);
            for (DatagramChannel c : sockets) {
                c.close();
            }
        }
    }

    @Test
    void eachOfThreeMayBeKilled() throws Exception {
        KernelLink.run(link -> {
            AtomicBoolean enough = new AtomicBoolean();
            try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(RawLink.KERNEL,
                    TCP))) {
                FutureTask<Sum> received = receiving(server);
                FutureTask<Sum> sent = sending(link, enough);
                try (Three three = new Three(link)) {
                    three.check(-1);
                    for (int killed = 0; killed < 3; killed++) {
                        three.kill(killed);
                        three.check(killed);
                        three.restart(killed);
                        three.check(-1);
                    }
                    SharedMember second = SharedMember.start("one");
                    assertThat(second.ask("drop " + DROPPED)).contains("EEXIST", "a flow of process "
                            + three.members.get(1).pid());
                    second.end();
                    assertThat(isAttached(link)).isTrue();
                    three.members.get(0).end();
                    three.members.get(2).end();
                    assertThat(isAttached(link)).isTrue();
                    three.members.get(1).end();
                    assertThat(isAttached(link)).isFalse();
                    assertThat(folder(link)).doesNotExist();
                } finally {
                    enough.set(true);
                }
                Sum all = sent.get(60, TimeUnit.SECONDS);
                assertThat(received.get(60, TimeUnit.SECONDS)).isEqualTo(all);
                assertThat(all.bytes).isPositive();
                System.out.println("beside it " + (all.bytes >> 10) + " KiB of the kernel's TCP");
            }
        });
    }

    @Test
    void allMayBeKilled() throws Exception {
        KernelLink.run(link -> {
            try (Three three = new Three(link)) {
                for (int i = 0; i < 3; i++) {
                    three.kill(i);
                }
                Await.until("the program leaves with the last process", () -> !isAttached(link));
                assertThat(folder(link)).exists();
                three.restart(1);
                three.restart(2);
                three.restart(0);
                three.check(-1);
                for (SharedMember m : three.members) {
                    m.end();
                }
                assertThat(isAttached(link)).isFalse();
                assertThat(folder(link)).doesNotExist();
            }
        });
    }

    /** Killed between any two steps of a change: nothing that matters to others is ever half done. */
    @Test
    void processesAreKilledInTheMiddleOfChanges() throws Exception {
        KernelLink.run(link -> {
            Random random = new Random();
            try (SharedMember watcher = SharedMember.start("one")) {
                assertThat(watcher.ask("watch " + WATCHED)).isEqualTo("done");
                long count = 0;
                List<SharedMember> others = new ArrayList<>();
                for (int round = 0; round < 6; round++) {
                    SharedMember other = SharedMember.start("one");
                    others.add(other);
                    assertThat(other.ask("churn")).isEqualTo("begun");
                    send(link, WATCHED, 50);
                    count += 50;
                    if (round % 2 == 1) { // two at once, and then one
                        Thread.sleep(random.nextInt(50)); // anywhere
                        for (SharedMember m : others) {
                            m.kill();
                        }
                        others.clear();
                        assertThat(watcher.ask("watch " + (WATCHED + 1 + round))).isEqualTo("done");
                    }
                    send(link, WATCHED, 50);
                    count += 50;
                    awaitCount(watcher, WATCHED, count);
                }
                watcher.end();
                assertThat(isAttached(link)).isFalse();
                assertThat(folder(link)).doesNotExist();
            }
        });
    }
}
