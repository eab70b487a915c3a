// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;

import org.verbena.sockets.spi.PeerRendezvous;
import org.verbena.tests.cli.RoceNamespaces;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * Violates the protocol of sessions between two hosts, byte by byte according to docs/stream.md. As a client it also
 * has a valid connection through the agent, whose device it uses; it prints the result of each action in a line.
 */
final class RemoteIntruder {
    /** The bytes that a valid connection carries at a time. */
    static final int BYTES = 100_000;
    /** The number of repetitions. */
    static final int ROUNDS = 5;

    private static final int MAGIC = 0x5642_5352;
    private static final int TAKES_REQUESTS = 4792;
    private static final int MEETING_BYTES = 56;
    private static final int CONTROL_MESSAGE_BYTES = 96;
    private static final int OFFER = 1;
    private static final int ANSWER = 2;
    private static final int DECLINE = 3;
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int END = -1;
    private static final int NOTHING = -2;
    private static final Map<String, String> RESULTS = new TreeMap<>();

    /** Offsets in its memory. */
    private static final int HEADER = 0;
    private static final int BLOCK = 4096;
    private static final int RING = 8192;
    private static final int SAID = 16_384;
    private static final int HEARD = 20_480;

    private final Context context;
    private final ProtectionDomain pd;
    private final MemoryRegion memory;
    private final Random random = new Random(4792);
    private final byte[] process = new byte[16];

    private RemoteIntruder(Context context) throws VerbsException {
        this.context = context;
        pd = context.allocateProtectionDomain();
        memory = pd.allocate(65_536, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
        random.nextBytes(process);
    }

    public static void main(String[] words) throws Exception {
        if (words[0].equals("ask")) { // HOST4 HOST6 PORT
            ask(words[1], words[2], Integer.parseInt(words[3]));
        } else { // answer
            while (Verbs.devices().stream().noneMatch(d -> d.name().equals(RoceNamespaces.DEVICE_B))) {
                Thread.sleep(10); // the other end of the cable is about to be there
            }
            new RemoteIntruder(Verbs.open(RoceNamespaces.DEVICE_B)).answer();
        }
    }

    /** The result of an action; all results are printed once more, in order, at the end. */
    private static synchronized void say(String what, String how) {
        System.out.println(what + " " + how);
        RESULTS.put(what, how);
    }

    // ---- output

    private static int fold(InetAddress address) {
        int all = 0;
        for (ByteBuffer words = ByteBuffer.wrap(address.getAddress()); words.hasRemaining();) {
            all ^= words.getInt();
        }
        return all;
    }

    private byte[] meeting(SocketChannel of, long nonce) throws IOException {
        InetSocketAddress client = (InetSocketAddress) of.getLocalAddress();
        InetSocketAddress server = (InetSocketAddress) of.getRemoteAddress();
        return meeting(client.getPort(), server.getPort(), nonce).putInt(48, fold(client.getAddress())).putInt(52, fold(
                server.getAddress())).array();
    }

    private ByteBuffer meeting(int clientPort, int serverPort, long nonce) {
        return ByteBuffer.allocate(MEETING_BYTES).putInt(0, MAGIC).put(4, (byte) 1).putShort(8, (short) clientPort)
                .putShort(10, (short) serverPort).putInt(12, memory.rkey()).putLong(16, memory.address() + HEADER)
                .putLong(24, nonce).put(32, process);
    }

    private byte[] message(int type, SocketChannel of, long nonce, long header) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(CONTROL_MESSAGE_BYTES).putInt(0, MAGIC).put(4, (byte) 1).put(5, (byte) type)
                .putShort(
                        8, (short) ((InetSocketAddress) of.getLocalAddress()).getPort()).putShort(10,
                                (short) ((InetSocketAddress) of.getRemoteAddress()).getPort()).putLong(16, nonce);
        b.slice(32, 64).order(ByteOrder.LITTLE_ENDIAN).put(0, "VBSTREAM".getBytes(StandardCharsets.US_ASCII)).putInt(8,
                2).putInt(12, 1).putInt(16, 0).putInt(20, memory.rkey()).putLong(24, memory.address() + BLOCK).putInt(
                        32, memory.rkey()).putInt(36, 4096).putLong(40, memory.address() + RING).putLong(48, header)
                .putInt(56, memory.rkey());
        return b.array();
    }

    // ---- a session of its own

    private final class Session {
        final CompletionQueue cq = context.createCompletionQueue(128);
        final QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(16).maxReceiveWr(16)
                .build());
        Connection connection;

        Session() throws VerbsException {}

        Session connect(InetSocketAddress to, byte[] data) throws VerbsException {
            connection = context.connectionManager().connect(qp, new InetSocketAddress(to.getAddress(), TAKES_REQUESTS),
                    ConnectionParameters.builder().timeout(LONG).privateData(data).build());
            return this;
        }

        /** Sends a message, and returns the answer. */
        String answer(byte[] message) throws InterruptedException {
            check(qp.receiveQueue().post(1, memory, HEARD, CONTROL_MESSAGE_BYTES));
            send(message);
            return heard();
        }

        void send(byte[] message) {
            memory.segment().asByteBuffer().put(SAID, message);
            check(qp.sendQueue().postSend(2, SendFlags.SIGNALED, memory, SAID, message.length));
        }

        private static void check(int error) {
            if (error != 0) {
                throw new IllegalStateException("not posted: " + error);
            }
        }

        /** Waits for the state; without receives no completion reports it. */
        String end() throws VerbsException {
            ConnectionEvent event;
            while ((event = connection.awaitEvent(LONG)) != null) {
                if (event.type() == ConnectionEvent.DISCONNECTED) {
                    return "ended";
                }
            }
            return "nothing";
        }

        /** The answer, or that there is none any more. */
        private String heard() throws InterruptedException {
            for (long end = System.nanoTime() + LONG.toNanos(); System.nanoTime() < end;) {
                if (cq.startPoll() != 0) {
                    Thread.sleep(1); // it is the other end's turn
                    continue;
                }
                long id = cq.wrId();
                int status = cq.status();
                cq.endPoll();
                if (status != WcStatus.SUCCESS) {
                    return "ended";
                } else if (id == 1) {
                    ByteBuffer said = memory.segment().asByteBuffer();
                    int type = said.get(HEARD + 5);
                    return (type == DECLINE ? "declined" : "type " + type) + " " + said.getShort(HEARD + 6);
                }
            }
            return "nothing";
        }
    }

    private void refused(String name, InetSocketAddress to, byte... data) throws VerbsException {
        try {
            Session s = new Session();
            s.connect(to, data);
            say(name, "accepted");
        } catch (ConnectionRejectedException e) {
            ByteBuffer why = ByteBuffer.wrap(e.privateData());
            boolean ours = why.remaining() >= 8 && why.getInt(0) == MAGIC;
            say(name, "refused " + e.reason() + (ours ? " " + why.get(5) : ""));
        }
    }

    private Session met(SocketChannel of) throws IOException {
        long nonce = random.nextLong();
        Session s = new Session().connect((InetSocketAddress) of.getRemoteAddress(), meeting(of, nonce));
        ByteBuffer answer = ByteBuffer.wrap(s.connection.privateData());
        if (answer.getInt(0) != MAGIC || answer.getLong(24) != nonce) {
            throw new IllegalStateException("the answer is not Verbena's");
        }
        return s;
    }

    // ---- as a client

    /** There and back. */
    private static void whole(SocketChannel channel, long seed) throws IOException {
        byte[] bytes = new byte[BYTES];
        new Random(seed).nextBytes(bytes);
        ByteBuffer out = ByteBuffer.wrap(bytes);
        ByteBuffer in = ByteBuffer.allocate(BYTES);
        while (in.hasRemaining()) {
            if (out.hasRemaining()) {
                channel.write(out.limit(Math.min(BYTES, out.position() + 10_000)));
                out.limit(BYTES);
            }
            if (channel.read(in) < 0) {
                throw new IOException("ended after " + in.position());
            }
        }
        if (!Arrays.equals(bytes, in.array())) {
            throw new IOException("other bytes");
        }
    }

    private static Context context(SocketChannel of) {
        return Objects.requireNonNull(Objects.requireNonNull(PeerRendezvous.of(of)).context());
    }

    /** A connection that rings carry. The other end's patience is short, and a busy machine may not keep to it at once. */
    private static SocketChannel honest(InetSocketAddress server) throws IOException {
        while (true) {
            SocketChannel channel = SocketChannel.open(server);
            whole(channel, 0);
            if (Objects.requireNonNull(PeerRendezvous.of(channel)).isHandshakeComplete()) {
                return channel;
            }
            channel.close();
        }
    }

    private static void ask(String host4, String host6, int port) throws Exception {
        try (SocketChannel honest = honest(new InetSocketAddress(host4, port))) {
            RemoteIntruder intruder = new RemoteIntruder(context(honest));
            InetSocketAddress six = new InetSocketAddress(host6, port);
            RemoteIntruder second = new RemoteIntruder(intruder.context);
            Thread silent = background(() -> second.silent(six));
            intruder.nonsense(honest);
            intruder.controlMessages(honest, six);
            silent.join();
            whole(honest, 4);
            say("honest", "whole");
            System.out.println("RESULTS " + RESULTS);
        }
    }

    private interface Action {
        void run() throws Exception;
    }

    private static Thread background(Action action) {
        return Thread.ofPlatform().start(() -> {
            try {
                action.run();
            } catch (Exception e) {
                say("FAILED", e.toString());
            }
        });
    }

    /** Requests that are invalid, or invalid at this time. */
    private void nonsense(SocketChannel honest) throws Exception {
        InetSocketAddress to = (InetSocketAddress) honest.getRemoteAddress();
        byte[] right = meeting(honest, 1);
        Thread taken = background(() -> refused("taken", to, right));
        Thread unknown = background(() -> refused("unknown", to, ByteBuffer.wrap(right.clone()).putShort(8, (short) 1)
                .array()));
        byte[] noise = new byte[MEETING_BYTES];
        random.nextBytes(noise);
        refused("nothing", to);
        refused("noise", to, noise);
        refused("cut", to, Arrays.copyOf(right, 40));
        refused("old", to, ByteBuffer.wrap(right.clone()).put(4, (byte) 0).array());
        refused("elsewhere", to, ByteBuffer.wrap(right.clone()).putInt(48, 0x0a01_0203).array());
        refused("stranger", to, ByteBuffer.allocate(16).putInt(0x5642_494e).putLong(8, 7).array());
        whole(honest, 1);
        taken.join();
        unknown.join();
        whole(honest, 2);
    }

    /** Connections that TCP carries here, in whose name sessions are made. */
    private void controlMessages(SocketChannel honest, InetSocketAddress server) throws Exception {
        try (SocketChannel a = SocketChannel.open(server);
                SocketChannel b = SocketChannel.open(server);
                SocketChannel c = SocketChannel.open(server);
                SocketChannel d = SocketChannel.open(server)) {
            Session s = met(a);
            refused("again", server, meeting(a, 2));
            byte[] noise = new byte[CONTROL_MESSAGE_BYTES];
            random.nextBytes(noise);
            say("noise-message", s.answer(noise));
            whole(a, 3);
            say("answer", met(b).answer(message(ANSWER, b, 77, memory.address() + HEADER)));
            whole(b, 4);
            say("other-session", met(c).answer(message(OFFER, c, 78, memory.address() + HEADER + 64)));
            whole(c, 5);
            say("other-name", met(d).answer(message(OFFER, honest, 79, memory.address() + HEADER)));
            whole(d, 6);
            whole(honest, 3);
        }
    }

    /**
     * Sends a valid offer, and accepts no answer, while the other end has data for a ring: the session ends together
     * with the connection.
     */
    private void silent(InetSocketAddress server) throws Exception {
        try (SocketChannel channel = SocketChannel.open(server)) {
            Session s = met(channel);
            s.send(message(OFFER, channel, 80, memory.address() + HEADER));
            channel.configureBlocking(false);
            int answer;
            long end = System.nanoTime() + LONG.toNanos();
            do { // TCP echoes it until the handshake ends, then doorbells arrive, or nothing
                answer = asked(channel, 100);
            } while (answer != END && System.nanoTime() < end);
            say("silent", s.end() + " " + (answer == END ? "closed" : "open"));
        }
    }

    /** Writes a byte, and returns what arrives then. */
    private static int asked(SocketChannel channel, long milliseconds) throws InterruptedException {
        ByteBuffer one = ByteBuffer.allocate(1);
        try {
            channel.write(ByteBuffer.wrap(new byte[] {1}));
            for (long i = 0; i < milliseconds; i++) {
                int n = channel.read(one);
                if (n != 0) {
                    return n < 0 ? END : one.get(0);
                }
                Thread.sleep(1); // it is the other end's turn
            }
            return NOTHING;
        } catch (IOException reset) {
            return END;
        }
    }

    // ---- as a server

    /** By IPv4 it repeats a wrong nonce, by IPv6 it creates the session and takes no handshake messages. */
    private void answer() throws Exception {
        ConnectionListener listener = context.connectionManager().listen(new InetSocketAddress(TAKES_REQUESTS));
        System.out.println("ready");
        while (true) {
            ConnectionRequest request = Objects.requireNonNull(listener.awaitRequest(Duration.ofDays(1)));
            Gid at = Objects.requireNonNull(request.localGid());
            boolean wrong = at.toString().startsWith("::ffff:");
            long nonce = ByteBuffer.wrap(request.privateData()).getLong(24);
            Session s = new Session();
            s.connection = request.accept(s.qp, ConnectionParameters.builder().privateData(meeting(0, 0, wrong
                    ? nonce + 1
                    : nonce).array()).build());
            System.out.println(wrong ? "wrong" : "silent");
        }
    }
}
