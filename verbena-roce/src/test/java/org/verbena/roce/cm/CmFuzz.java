// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.verbena.testkit.InputRandom;
import org.verbena.verbs.Gid;

/**
 * A target of {@code config/fuzz}: an agent whose peers send arbitrary replies, to numbers that were sent to them and to
 * others, while its user connects, accepts, rejects and disconnects. It throws nothing, delivers no more events than
 * allowed, and holds no connection in the end.
 */
public final class CmFuzz {
    private static final Gid OWN = Gid.parse("::ffff:10.0.0.1");
    private static final Gid[] PEERS = {Gid.parse("::ffff:10.0.0.2"), Gid.parse("fe80::2")};
    private static final long[] SERVICES = {RdmaCmHeader.service(7471), RdmaCmHeader.service(7472), 1};
    private static final long SECOND = 1_000_000_000L;
    private static final long GIVE_UP = 20 * SECOND;
    /** Longer than any wait that a peer may request of the agent. */
    private static final int LONG_SECONDS = 200;
    private static final int MAX_SENT = 20;

    private static final class User implements CmUser {
        private boolean ended;

        private void record(boolean end) {
            if (ended) {
                throw new AssertionError("an event after the end");
            }
            ended = end;
        }

        @Override
        public void replied(CmMessage.Rep reply) {
            record(false);
        }

        @Override
        public void established() {
            record(false);
        }

        @Override
        public void rejected(int reason, PrivateData data) {
            record(true);
        }

        @Override
        public void timedOut() {
            record(true);
        }

        @Override
        public void disconnected() {
            record(true);
        }
    }

    private final Random random;
    private final CmAgent agent;
    private final List<CmConnection> connections = new ArrayList<>();
    private final List<byte[]> sent = new ArrayList<>();
    private long now = SECOND;
    private int sidrRequests;

    private CmFuzz(Random random) {
        this.random = random;
        agent = new CmAgent(new CmTransport() {
            @Override
            public long nanoTime() {
                return now;
            }

            @Override
            public void send(Gid from, Gid to, byte[] mad) {
                if (mad.length != CmCodec.BYTES || CmCodec.decode(mad) == null) {
                    throw new AssertionError("sends what it would not take");
                }
                if (sent.size() < MAX_SENT) {
                    sent.add(mad);
                }
            }
        }, 7, 5, new Random(1));
        agent.listen(SERVICES[0], (c, r) -> {
            connections.add(c);
            return 0;
        });
        agent.listen(SERVICES[2], (c, r) -> 1 + (r.data().bytes()[0] & 0x1f));
        agent.provide(SERVICES[1], null, 9, 9, PrivateData.NONE);
    }

    /** The input decides what happens. */
    public static void fuzzerTestOneInput(byte[] input) {
        InputRandom random = new InputRandom(input);
        CmFuzz fuzz = new CmFuzz(random);
        while (!random.isOver()) {
            fuzz.step();
        }
        fuzz.end();
    }

    private void step() {
        switch (random.nextInt(8)) {
            case 0, 1, 2 -> receive(CmCodec.encode(message()));
            case 3 -> {
                if (!sent.isEmpty()) {
                    receive(sent.get(random.nextInt(sent.size())).clone());
                }
            }
            case 4 -> pass(random.nextInt(256) * SECOND / 10);
            case 5 -> act();
            case 6 -> connect();
            default -> {
                sidrRequests++;
                agent.resendSidr(OWN, peer(), SERVICES[1], 0xffff, PrivateData.NONE, now + GIVE_UP,
                        a -> sidrRequests--);
            }
        }
    }

    private Gid peer() {
        return PEERS[random.nextInt(PEERS.length)];
    }

    /** A message that the agent has sent, from which a peer has its numbers. */
    private CmMessage sentMessage() {
        CmMessage m = sent.isEmpty() ? null : CmCodec.decode(sent.get(random.nextInt(sent.size())));
        return m == null ? new CmMessage.Rtu(1, 1, 1, PrivateData.NONE) : m;
    }

    private int localOf(CmMessage m) {
        return switch (m) {
            case CmMessage.Req r -> r.localId();
            case CmMessage.Rep r -> r.localId();
            case CmMessage.Rtu r -> r.localId();
            case CmMessage.Rej r -> r.localId();
            case CmMessage.Mra r -> r.localId();
            case CmMessage.Dreq r -> r.localId();
            case CmMessage.Drep r -> r.localId();
            case CmMessage.SidrReq r -> r.requestId();
            case CmMessage.SidrRep r -> r.requestId();
        };
    }

    private CmMessage message() {
        CmMessage k = sentMessage();
        long t = random.nextBoolean() ? k.transaction() : random.nextInt(3);
        int own = random.nextInt(4);
        int theirs = random.nextInt(8) == 0 ? random.nextInt(3) : localOf(k);
        int queuePair = random.nextInt(4);
        PrivateData data = PrivateData.of((byte) random.nextInt(256));
        return switch (random.nextInt(9)) {
            case 0 -> new CmMessage.Req(t, own, SERVICES[random.nextInt(SERVICES.length)], 1, 0, queuePair, 1, 1,
                    random.nextInt(32), random.nextInt(32), 15, random.nextInt(4), random.nextInt(8), 1, 7, 7,
                    random.nextBoolean(), 0xffff, random.nextInt(8), new CmMessage.Route(peer(), OWN, 0, 0, 0, 64,
                            random.nextInt(32)), data);
            case 1 -> new CmMessage.Rep(t, own, theirs, 0, queuePair, 1, 1, 1, random.nextInt(32), 7, false, 1, data);
            case 2 -> new CmMessage.Rtu(t, own, theirs, data);
            case 3 -> new CmMessage.Rej(t, own, theirs, random.nextInt(4), random.nextInt(64), data, data);
            case 4 -> new CmMessage.Mra(t, own, theirs, random.nextInt(4), random.nextInt(32), data);
            case 5 -> new CmMessage.Dreq(t, own, theirs, queuePair, data);
            case 6 -> new CmMessage.Drep(t, own, theirs, data);
            case 7 -> new CmMessage.SidrReq(t, own, 0xffff, SERVICES[random.nextInt(SERVICES.length)], data);
            default -> new CmMessage.SidrRep(t, theirs, random.nextInt(4), queuePair, SERVICES[1], 9, data);
        };
    }

    private void receive(byte[] mad) {
        for (int flips = random.nextInt(8) == 0 ? 1 + random.nextInt(4) : 0; flips > 0; flips--) {
            mad[random.nextInt(mad.length)] = (byte) random.nextInt(256);
        }
        agent.received(OWN, peer(), mad);
    }

    private void connect() {
        User user = new User();
        connections.add(agent.connect(new CmMessage.Req(agent.nextTransaction(), agent.newId(), SERVICES[0], 1, 0,
                random.nextInt(4), 16, 16, CmTimes.RESPONSE, CmTimes.RESPONSE, CmTimes.RETRIES, CmMessage.RC,
                0, 5, 7, 7, false, 0xffff, 3, new CmMessage.Route(OWN, peer(), 0, 0, 0, 64, 14), PrivateData.NONE),
                user, now + GIVE_UP));
    }

    private void act() {
        if (connections.isEmpty()) {
            return;
        }
        CmConnection c = connections.get(random.nextInt(connections.size()));
        switch (random.nextInt(5)) {
            case 0 -> c.sendRtu();
            case 1 -> c.accept(0, random.nextInt(4), 9, 1, 1, 7, false, PrivateData.NONE, new User(), now + GIVE_UP);
            case 2 -> c.reject(random.nextInt(64), PrivateData.NONE);
            case 3 -> c.communicationEstablished();
            default -> c.disconnect(true);
        }
    }

    private void pass(long nanos) {
        long until = now + nanos;
        while (agent.nextDeadline() <= until) {
            now = Math.max(now, agent.nextDeadline());
            agent.progress();
        }
        now = until;
    }

    private void end() {
        connections.forEach(c -> c.disconnect(true));
        pass(LONG_SECONDS * SECOND);
        if (agent.size() != 0 || agent.waiting() != 0 || sidrRequests != 0) {
            throw new AssertionError("remembers " + connections + " and " + sidrRequests + " sidrRequests");
        }
    }
}
