// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.verbs.Gid;

/** Connections between agents in virtual time. */
class CmAgentTest {
    private static final String A = "::ffff:10.0.0.1";
    private static final String B = "::ffff:10.0.0.2";
    private static final Gid GID_A = Gid.parse(A);
    private static final Gid GID_B = Gid.parse(B);
    private static final long SERVICE = RdmaCmHeader.service(7471);
    private static final long SECOND = 1_000_000_000L;
    private static final PrivateData HELLO = PrivateData.of((byte) 1, (byte) 2, (byte) 3);
    private static final int REJ = 0x12;
    private static final int REP = 0x13;
    private static final int RTU = 0x14;
    private static final int DREQ = 0x15;
    private static final int DREP = 0x16;

    /** Without the zeros that pad messages. */
    private static String text(PrivateData data) {
        return data.toString().replaceAll("(00)*$", "");
    }

    /** An application, which records its events. */
    private static final class User implements CmUser {
        final List<String> events = new ArrayList<>();
        CmConnection connection;
        boolean rejects;
        PrivateData rejection = HELLO;

        @Override
        public void replied(CmMessage.Rep reply) {
            events.add("replied " + reply.queuePair() + " " + text(reply.data()));
            if (rejects) {
                connection.reject(RejectReason.CONSUMER_DEFINED, HELLO);
            } else {
                connection.sendRtu();
            }
        }

        @Override
        public void established() {
            events.add("established");
        }

        @Override
        public void rejected(int reason, PrivateData data) {
            rejection = data;
            events.add("rejected " + reason + " " + text(data));
        }

        @Override
        public void timedOut() {
            events.add("timed out");
        }

        @Override
        public void disconnected() {
            events.add("disconnected");
        }
    }

    private final FaultyTransports network;
    private final CmAgent a;
    private final CmAgent b;
    private final List<CmConnection> requests = new ArrayList<>();
    private final List<User> accepted = new ArrayList<>();

    CmAgentTest() {
        network = new FaultyTransports(99);
        a = network.agent(A, 5);
        b = network.agent(B, 3);
    }

    private CmMessage.Req request(Gid local, Gid remote, long service, int mtu, int transport) {
        return new CmMessage.Req(a.nextTransaction(), a.newId(), service, 1, 0, 0x111, 16, 16, CmTimes.RESPONSE,
                CmTimes.RESPONSE, 15, transport, 0, 5, 7, 7, false, 0xFFFF, mtu, new CmMessage.Route(local,
                        remote, 0, 0, 0, 64, 14), HELLO);
    }

    private User connect(double seconds) {
        User user = new User();
        user.connection = a.connect(request(GID_A, GID_B, SERVICE, 3, CmMessage.RC), user, network.now + (long) (seconds
                * SECOND));
        return user;
    }

    private User accept(CmConnection c) {
        User user = new User();
        user.connection = c;
        accepted.add(user);
        c.accept(0, 0x222, 9, 16, 16, 7, false, HELLO, user, network.now + 60 * SECOND);
        return user;
    }

    private void acceptAll() {
        assertThat(b.listen(SERVICE, (c, r) -> {
            assertThat(r.data().upTo(3)).isEqualTo(HELLO);
            requests.add(c);
            accept(c);
            return 0;
        })).isTrue();
    }

    private void offerAll() {
        assertThat(b.listen(SERVICE, (c, r) -> {
            requests.add(c);
            return 0;
        })).isTrue();
    }

    private void assertForgotten() {
        network.run(10);
        assertThat(a.size()).isZero();
        assertThat(b.size()).isZero();
        assertThat(a.nextDeadline()).isEqualTo(Long.MAX_VALUE);
        assertThat(b.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void connectThenDisconnect() {
        acceptAll();
        User active = connect(10);
        network.run(1);
        assertThat(active.events).containsExactly("replied 546 010203");
        assertThat(accepted.getFirst().events).containsExactly("established");
        assertThat(a.counts().retransmitted + b.counts().retransmitted).isZero();
        assertThat(a.nextDeadline()).as("an idle connection costs nothing").isEqualTo(Long.MAX_VALUE);
        network.run(3600);
        accepted.getFirst().connection.disconnect(true);
        network.run(1);
        assertThat(active.events).endsWith("disconnected").hasSize(2);
        assertThat(accepted.getFirst().events).hasSize(1);
        assertForgotten();
        assertThat(a.counts().sent).as("REQ, RTU, DREP").isEqualTo(3);
        assertThat(b.counts().sent).as("REP, DREQ").isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void faultyNetworkConnectsOnce(long seed) {
        FaultyTransports bad = new FaultyTransports(seed);
        CmAgent one = bad.agent(A, 5);
        CmAgent other = bad.agent(B, 5);
        List<User> passive = new ArrayList<>();
        other.listen(SERVICE, (c, r) -> {
            User user = new User();
            user.connection = c;
            passive.add(user);
            c.accept(0, 0x222, 9, 16, 16, 7, false, r.data(), user, bad.now + 300 * SECOND);
            return 0;
        });
        bad.lost = 40;
        bad.repeated = 20;
        bad.delayed = 10;
        List<User> active = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            User user = new User();
            active.add(user);
            user.connection = one.connect(new CmMessage.Req(one.nextTransaction(), one.newId(), SERVICE, 1, 0,
                    0x111,
                    16, 16, 17, 17, 15, 0, 0, 5, 7, 7, false, 0xFFFF, 5, new CmMessage.Route(GID_A, GID_B, 0, 0, 0, 64,
                            14), PrivateData.of((byte) (i + 1))), user, bad.now + 300 * SECOND);
        }
        bad.run(400);
        assertThat(passive).as("a duplicate is not a new request").hasSize(50);
        passive.forEach(u -> assertThat(u.events).containsExactly("established"));
        for (int i = 0; i < 50; i++) {
            assertThat(active.get(i).events).as("its own reply").containsExactly("replied 546 %02x".formatted(i + 1));
        }
        for (int i = 0; i < 50; i++) {
            (i % 2 == 0 ? active : passive).get(i % 2 == 0 ? i : 0).connection.isReqRcvd(); // called at any time
            active.get(i).connection.disconnect(true);
        }
        bad.run(400);
        passive.forEach(u -> assertThat(u.events).containsExactly("established", "disconnected"));
        assertThat(one.size()).isZero();
        assertThat(other.size()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {31, 32, 33, 34, 35, 36, 37, 38})
    void garbageMessagesAreIgnored(long seed) {
        FaultyTransports bad = new FaultyTransports(seed);
        Random random = new Random(seed);
        CmAgent one = bad.agent(A, 5);
        CmAgent other = bad.agent(B, 5);
        other.listen(SERVICE, (c, r) -> {
            if (random.nextInt(3) > 0) {
                c.accept(0, 0x222, 9, 16, 16, 7, false, HELLO, new User(), bad.now + 5 * SECOND);
            } else if (random.nextBoolean()) {
                c.reject(RejectReason.CONSUMER_DEFINED, HELLO);
            } else {
                bad.fly(GID_A, GID_B, new byte[random.nextInt(256)]); // and it is never answered
            }
            return random.nextInt(10) == 0 ? RejectReason.NO_RESOURCES : 0;
        });
        bad.lost = 10;
        bad.repeated = 20;
        bad.damaged = 50;
        bad.delayed = 20;
        List<User> users = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            User user = new User();
            users.add(user);
            user.connection = one.connect(new CmMessage.Req(one.nextTransaction(), one.newId(), SERVICE, 1, 0,
                    0x111,
                    16, 16, 17, 17, 15, 0, 0, 5, 7, 7, false, 0xFFFF, 5, new CmMessage.Route(GID_A, GID_B, 0, 0, 0, 64,
                            14), HELLO), user, bad.now + 5 * SECOND);
            bad.run(random.nextDouble());
            if (random.nextInt(4) == 0) {
                users.get(random.nextInt(users.size())).connection.disconnect(true);
            }
        }
        bad.run(60);
        users.forEach(u -> u.connection.disconnect(true));
        bad.run(60);
        assertThat(one.size()).isZero();
        for (User u : users) {
            assertThat(u.events.stream().filter(t -> !t.startsWith("replied")).count()).as("one end: %s", u.events)
                    .isLessThanOrEqualTo(1);
        }
        assertThat(other.counts().malformed).isPositive();
    }

    @Test
    void lostMessageIsRetransmitted() {
        acceptAll();
        network.losing = REP;
        User active = connect(60);
        network.run(3);
        assertThat(active.events).isEmpty();
        network.losing = RTU;
        network.run(3);
        assertThat(active.events).hasSize(1);
        assertThat(accepted.getFirst().events).as("the RTU was lost").isEmpty();
        accepted.getFirst().connection.communicationEstablished();
        assertThat(accepted.getFirst().events).as("data imply the RTU").containsExactly("established");
        long repeated = a.counts().retransmitted;
        network.losing = DREQ;
        active.connection.disconnect(true);
        network.run(1);
        assertThat(accepted.getFirst().events).hasSize(1);
        assertThat(a.counts().retransmitted).as("DREQ after 50, 150, 350 and 750 ms").isEqualTo(repeated + 4);
        network.losing = DREP;
        network.run(2);
        assertThat(accepted.getFirst().events).endsWith("disconnected");
        assertThat(a.isEnding()).isTrue();
        network.losing = 0;
        network.run(2);
        assertThat(a.isEnding()).isFalse();
        assertThat(requests).hasSize(1);
        assertForgotten();
    }

    @Test
    void unansweredDreqIsRetransmitted() {
        acceptAll();
        User active = connect(60);
        User failed = connect(60);
        network.run(1);
        network.losing = DREQ;
        failed.connection.disconnect(false);
        assertThat(a.isEnding()).as("no reply is expected").isFalse();
        active.connection.disconnect(true);
        network.run(12);
        assertThat(a.isEnding()).isTrue();
        network.run(3);
        assertThat(a.isEnding()).isFalse();
        network.run(10);
        assertThat(a.size()).isZero();
        assertThat(accepted).allSatisfy(u -> assertThat(u.events).containsExactly("established"));
    }

    @Test
    void repIsRetransmittedUntilRtu() {
        acceptAll();
        network.losing = RTU;
        User active = connect(60);
        network.run(5);
        network.losing = 0;
        network.run(2);
        assertThat(accepted.getFirst().events).containsExactly("established");
        assertThat(active.events).as("the REP has arrived many times and is reported once").hasSize(1);
        assertThat(b.counts().retransmitted).isPositive();
    }

    /** The connection was established, also for the accepting side: its data may have arrived. */
    @Test
    void dreqImpliesRtu() {
        acceptAll();
        network.losing = RTU;
        User active = connect(60);
        network.run(1);
        assertThat(accepted.getFirst().events).isEmpty();
        active.connection.disconnect(true);
        network.run(1);
        assertThat(accepted.getFirst().events).containsExactly("established", "disconnected");
        assertForgotten();
    }

    /** One message in ten is lost, or its reply: no accepting side is notified of a failure. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void lossOfTenPercentConnects(long seed) {
        FaultyTransports bad = new FaultyTransports(seed);
        CmAgent one = bad.agent(A, 5);
        CmAgent other = bad.agent(B, 5);
        List<User> passive = new ArrayList<>();
        other.listen(SERVICE, (c, r) -> {
            User user = new User();
            user.connection = c;
            passive.add(user);
            c.accept(0, 0x222, 9, 16, 16, 7, false, r.data(), user, bad.now + 10 * SECOND);
            return 0;
        });
        bad.lost = 10;
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            User user = new User();
            user.connection = one.connect(new CmMessage.Req(one.nextTransaction(), one.newId(), SERVICE, 1, 0,
                    0x111,
                    16, 16, 17, 17, 15, 0, 0, 5, 7, 7, false, 0xFFFF, 5, new CmMessage.Route(GID_A, GID_B, 0, 0, 0, 64,
                            14), HELLO), user, bad.now + 60 * SECOND);
            while (user.events.isEmpty()) {
                bad.run(0.01);
            }
            if (random.nextBoolean()) { // accepted at once
                user.connection.disconnect(true);
            }
        }
        bad.run(20);
        assertThat(passive).hasSize(300);
        passive.forEach(u -> assertThat(u.events.getFirst()).isEqualTo("established"));
    }

    @Test
    void missingListenerRejectsAndSilentPeerTimesOut() {
        User active = connect(5);
        network.run(1);
        assertThat(active.events).as("no listener").containsExactly("rejected 8 ");
        assertThat(active.rejection).as("and no calls follow").isEqualTo(PrivateData.NONE);
        network.losing = REJ;
        active = connect(5);
        network.run(6);
        assertThat(active.events).containsExactly("timed out");
        network.losing = 0;
        acceptAll();
        network.losing = RTU;
        User ready = connect(5);
        network.run(61);
        assertThat(accepted.getFirst().events).containsExactly("timed out");
        assertThat(ready.events).as("it is notified that the other has timed out").endsWith("disconnected");
        assertForgotten();
    }

    @Test
    void slowAcceptSendsMra() {
        offerAll();
        User active = connect(100);
        network.run(20);
        assertThat(active.events).isEmpty();
        assertThat(a.counts().retransmitted).as("fewer retransmissions than without the MRA").isBetween(2L, 8L);
        assertThat(requests).hasSize(1);
        assertThat(requests.getFirst().isReqRcvd()).isTrue();
        User passive = accept(requests.getFirst());
        assertThat(requests.getFirst().isReqRcvd()).isFalse();
        network.run(1);
        assertThat(active.events).hasSize(1);
        assertThat(passive.events).containsExactly("established");
    }

    @Test
    void eitherSideMayReject() {
        offerAll();
        network.losing = REJ;
        User active = connect(100);
        network.run(1);
        requests.getFirst().reject(RejectReason.CONSUMER_DEFINED, HELLO);
        network.run(1);
        assertThat(active.events).isEmpty();
        network.losing = 0;
        network.run(4.5);
        assertThat(active.events).as("a lost rejection is retransmitted").containsExactly("rejected 28 010203");
        assertThat(requests).hasSize(1);

        active = connect(100);
        active.rejects = true;
        network.run(1);
        User passive = accept(requests.get(1));
        network.run(1);
        assertThat(passive.events).containsExactly("rejected 28 010203");

        active = connect(100);
        network.run(1);
        active.connection.disconnect(true); // before any reply
        network.run(1);
        assertThat(requests.get(2).isReqRcvd()).as("the request is withdrawn").isFalse();
        passive = accept(requests.get(2));
        assertThat(passive.events).isEmpty();
        assertForgotten();
    }

    @Test
    void invalidRequestIsRejectedAndForgotten() {
        acceptAll();
        long[][] cases = {{4, 0, RejectReason.INVALID_MTU}, {0, 0, RejectReason.INVALID_MTU},
            {3, 2, RejectReason.INVALID_TRANSPORT}, {3, 3, RejectReason.INVALID_TRANSPORT}};
        for (long[] c : cases) {
            User user = new User();
            user.connection = a.connect(request(GID_A, GID_B, SERVICE, (int) c[0], (int) c[1]), user, network.now + 5
                    * SECOND);
            network.run(1);
            assertThat(user.events).containsExactly("rejected " + c[2] + " ");
        }
        // a stranger uses another's ids
        network.fly(GID_A, GID_B, CmCodec.encode(request(Gid.parse("::ffff:10.0.0.3"), GID_B, SERVICE, 3, 0)));
        network.run(1);
        assertThat(b.size()).isZero();
        assertThat(accepted).isEmpty();
        assertThat(b.listen(SERVICE, (c, r) -> 0)).as("taken").isFalse();
        assertThat(b.provide(SERVICE, null, 1, 1, HELLO)).as("taken").isFalse();
        b.forgetService(SERVICE);
        assertThat(b.listen(SERVICE, (c, r) -> 0)).isTrue();
    }

    @Test
    void dreqOfStrangerIsIgnored() {
        acceptAll();
        User active = connect(10);
        network.run(1);
        int id = active.connection.localId;
        int other = accepted.getFirst().connection.localId;
        Gid stranger = Gid.parse("::ffff:10.0.0.66");
        for (CmMessage m : List.of(new CmMessage.Dreq(1, other, id, 0x111, PrivateData.NONE),
                new CmMessage.Rej(
                        1, other, id, 2, 4, PrivateData.NONE, PrivateData.NONE))) {
            network.fly(stranger, GID_A, CmCodec.encode(m));
        }
        // from the right address, but not of this connection
        network.fly(GID_B, GID_A, CmCodec.encode(new CmMessage.Dreq(1, other + 1, id, 0x111, PrivateData.NONE)));
        network.fly(GID_B, GID_A, CmCodec.encode(new CmMessage.Dreq(1, other, id, 0x112, PrivateData.NONE)));
        network.fly(GID_B, GID_A, CmCodec.encode(new CmMessage.Dreq(1, other, id + 1, 0x111, PrivateData.NONE)));
        network.run(1);
        assertThat(active.events).hasSize(1);
        assertThat(a.counts().unexpected).isGreaterThanOrEqualTo(4);
        network.fly(GID_B, GID_A, CmCodec.encode(new CmMessage.Dreq(1, other, id, 0x111, PrivateData.NONE)));
        network.run(1);
        assertThat(active.events).endsWith("disconnected");
    }

    @Test
    void requestFloodIsLimited() {
        offerAll();
        for (int i = 0; i < 3 * CmAgent.MAX_OFFERED_OF_PEER; i++) {
            network.fly(GID_A, GID_B, CmCodec.encode(request(GID_A, GID_B, SERVICE, 3, 0)));
            Gid other = Gid.parse("::ffff:10.1." + i % 7 + "." + i % 251);
            network.fly(other, GID_B, CmCodec.encode(request(other, GID_B, SERVICE, 3, 0)));
        }
        network.run(1);
        assertThat(requests.stream().filter(c -> c.remote().equals(GID_A)).count()).isEqualTo(
                CmAgent.MAX_OFFERED_OF_PEER);
        assertThat(requests).hasSize(CmAgent.MAX_OFFERED);
        assertThat(b.size()).isEqualTo(CmAgent.MAX_OFFERED);
        assertThat(b.counts().refused).isEqualTo(6L * CmAgent.MAX_OFFERED_OF_PEER - CmAgent.MAX_OFFERED);
        requests.forEach(c -> c.reject(RejectReason.CONSUMER_DEFINED, HELLO));
        User active = connect(10);
        network.run(1);
        assertThat(requests).as("there is space again").hasSize(CmAgent.MAX_OFFERED + 1);
        assertThat(active.events).isEmpty();
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < CmAgent.MAX_TIME_WAIT / 2; j++) {
                network.fly(GID_A, GID_B, CmCodec.encode(request(GID_A, GID_B, SERVICE, 3, 0)));
            }
            network.run(0.1);
            requests.forEach(c -> c.reject(RejectReason.CONSUMER_DEFINED, HELLO));
        }
        assertThat(b.size()).isLessThanOrEqualTo(CmAgent.MAX_TIME_WAIT + CmAgent.MAX_OFFERED);
    }

    /** Each one postpones the request's retransmission. */
    @Test
    void mraIsNotStored() {
        network.lost = 100;
        User active = connect(100);
        int id = active.connection.localId;
        for (int i = 0; i < 10_000; i++) {
            a.received(GID_A, GID_B, CmCodec.encode(new CmMessage.Mra(1, 7, id, CmMessage.MESSAGE_REQ, i % 24,
                    PrivateData.NONE)));
        }
        assertThat(a.waiting()).isEqualTo(1);
        network.run(200);
        assertThat(active.events).containsExactly("timed out");
        assertThat(a.waiting()).isZero();
    }

    @Test
    void sidrResolvesService() {
        List<String> answers = new ArrayList<>();
        long service = RdmaCmHeader.datagramService(5000);
        assertThat(b.provide(service, null, 0x333, 0x01234567, HELLO)).isTrue();
        network.lost = 60;
        for (int i = 0; i < 20; i++) {
            a.resendSidr(GID_A, GID_B, service, 0xFFFF, HELLO, network.now + 100 * SECOND, r -> answers.add(r == null
                    ? "none"
                    : r.status() + " " + r.queuePair() + " " + Integer.toHexString(r.qkey()) + " " + text(r.data())));
        }
        network.run(101);
        assertThat(answers).hasSize(20).containsOnly("0 819 1234567 010203");
        answers.clear();
        network.lost = 0;
        a.resendSidr(GID_A, GID_B, service + 1, 0xFFFF, HELLO, network.now + SECOND, r -> answers.add("" + (r == null
                ? -1
                : r.status())));
        a.resendSidr(GID_A, Gid.parse("::ffff:10.0.0.77"), service, 0xFFFF, HELLO, network.now + SECOND, r -> answers
                .add(
                        "" + (r == null ? -1 : r.status())));
        network.run(2);
        assertThat(answers).containsExactly("1", "-1");
        assertForgotten();
    }
}
