// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.PosixFile;
import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** A child that executes commands, one per line, and prints their results. */
final class ToolPeer {
    private static final int MEMORY = 1 << 20;

    private final Node node = Node.openWithChannel();
    private final Deque<AutoCloseable> held = new ArrayDeque<>();
    private @Nullable ConnectionListener listener;
    private @Nullable ConnectionRequest request;
    private @Nullable Connection connection;
    private @Nullable QueuePair qp;
    private @Nullable MemoryRegion memory;
    private byte[] peer = {};

    ToolPeer() throws VerbsException {}

    public static void main(String[] args) throws Exception {
        Peer.begin();
        ToolPeer tool = new ToolPeer();
        Peer.say("GID " + tool.node.gid());
        while (true) {
            String[] words = Peer.hear().split(" ", -1);
            try {
                Peer.say(tool.step(words));
            } catch (VerbsException e) {
                Peer.say("ERROR " + e.errno() + " " + e.getMessage());
            }
        }
    }

    private static int number(String[] words, int i) {
        return Integer.parseInt(words[i]);
    }

    String step(String... words) throws Exception {
        switch (words[0]) {
            case "listen" -> {
                listener = node.listen(words.length > 1 ? number(words, 1) : 0);
                return "PORT " + listener.localAddress().getPort();
            }
            case "request" -> {
                request = Node.await(listener);
                return "REQUEST";
            }
            case "accept" -> {
                request = Node.await(listener);
                prepare();
                peer = request.privateData();
                connection = request.accept(qp, parameters(10_000, 7));
                return "ACCEPTED";
            }
            case "connect" -> {
                prepare();
                connection = node.connect(qp, number(words, 1), parameters(words.length > 2
                        ? number(words, 2)
                        : 10_000, words.length > 3 ? number(words, 3) : 7));
                peer = connection.privateData();
                return "CONNECTED";
            }
            case "target" -> {
                peer = ByteBuffer.allocate(12).putLong(Long.parseLong(words[1])).putInt(number(words, 2)).array();
                return "TARGET";
            }
            case "rtr" -> {
                prepare();
                Node.toRtr(qp, words[1], number(words, 2));
                return "RTR";
            }
            case "receives" -> {
                for (int i = 0; i < number(words, 1); i++) {
                    require(0, qp.receiveQueue().post(i, memory, 0, MEMORY));
                }
                return "POSTED";
            }
            case "send" -> {
                require(0, qp.sendQueue().start().send(1, SendFlags.SIGNALED).sge(memory, 0, number(words, 1))
                        .complete());
                return "STATUS " + status();
            }
            case "post" -> {
                require(0, qp.sendQueue().start().send(1, SendFlags.SIGNALED).sge(memory, 0, 8).complete());
                return "POSTED";
            }
            case "write" -> {
                memory.segment().fill((byte) number(words, 2));
                require(0, writeTo(0, number(words, 1)));
                return "STATUS " + status() + " " + qp.errorReason();
            }
            case "writes" -> {
                return writes();
            }
            case "fetch" -> {
                ByteBuffer b = ByteBuffer.wrap(peer);
                require(0, qp.sendQueue().start().fetchAndAdd(1, SendFlags.SIGNALED, b.getInt(8), b.getLong(0), 1)
                        .sge(memory, 0, 8).complete());
                return "STATUS " + status();
            }
            case "disconnect" -> {
                connection.close();
                qp.close();
                memory.close();
                return "DISCONNECTED";
            }
            case "event" -> {
                require(0, node.cq.requestNotify(false));
                Peer.say("WAITING");
                return "EVENT " + (node.cq.channel().await(Duration.ofMinutes(2)) == node.cq);
            }
            case "allocate" -> {
                held.push(node.allocate(Long.parseLong(words[1])));
                return "ALLOCATED";
            }
            case "hold" -> {
                held.push(hold(words[1]));
                return "HELD " + held.size();
            }
            case "drop" -> {
                held.pop().close();
                return "DROPPED " + held.size();
            }
            case "undumpable" -> {
                Undumpable.become();
                return "UNDUMPABLE";
            }
            case "state" -> {
                return "STATE " + qp.state() + " " + qp.errorReason();
            }
            case "close" -> {
                node.close();
                return "CLOSED";
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private AutoCloseable hold(String what) throws VerbsException {
        return switch (what) {
            case "context" -> node.context.device().open(); // Verbs.open would read files first
            case "channel" -> node.context.createCompletionChannel();
            case "listener" -> node.listen();
            case "file" -> open(Path.of("/dev/null")); // one descriptor, and nothing else
            default -> throw new IllegalArgumentException(what);
        };
    }

    private static Fd open(Path path) throws VerbsException {
        try {
            return PosixFile.open(path, PosixFile.O_RDONLY, 0);
        } catch (LinuxException e) {
            throw new VerbsException("open " + path, e);
        }
    }

    private void prepare() throws VerbsException {
        qp = node.queuePair();
        memory = Boolean.getBoolean("registered")
                ? node.pd.register(registered(), AccessFlags.ALL)
                : node.allocate(MEMORY);
    }

    private static MemorySegment registered() {
        return Arena.global().allocate(MEMORY, 64);
    }

    private ConnectionParameters parameters(int millis, int rnrRetry) {
        byte[] data = ByteBuffer.allocate(12).putLong(memory.address()).putInt(memory.rkey()).array();
        return ConnectionParameters.builder().privateData(data).timeout(Duration.ofMillis(millis)).rnrRetry(rnrRetry)
                .build();
    }

    private int writeTo(long offset, long length) {
        ByteBuffer b = ByteBuffer.wrap(peer);
        return qp.sendQueue().start().write(1, SendFlags.SIGNALED, b.getInt(8), b.getLong(0) + offset)
                .sge(memory, 0, length).complete();
    }

    /** Writes the whole memory of the peer repeatedly, until that fails; never the same bytes twice in a row. */
    private String writes() {
        Random random = new Random(1);
        Peer.say("WRITING");
        long n = 0;
        int status = WcStatus.SUCCESS;
        while (status == WcStatus.SUCCESS && qp.state() == QueuePairState.RTS) {
            memory.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, random.nextInt(MEMORY / 8) * 8L, n++);
            require(0, writeTo(0, MEMORY));
            status = status();
        }
        return "WRITTEN " + n + " " + WcStatus.toString(status);
    }

    /** The status of the next completion. */
    private int status() {
        Await.until(Child.LIMIT, () -> node.cq.startPoll() == 0, () -> Node.describe(qp));
        int status = node.cq.status();
        node.cq.endPoll();
        return status;
    }

    private static void require(int wanted, int error) {
        if (error != wanted) {
            throw new IllegalStateException("error " + error);
        }
    }
}
