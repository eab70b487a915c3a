// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.tests.conformance.EndOptions.datagrams;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueueModification;
import org.verbena.verbs.ConnectionManager;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.DatagramPeer;
import org.verbena.verbs.DatagramService;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;

/** Queue pairs of type UD and address handles. */
abstract class DatagramConformance extends Conformance {
    private static final int GRH = GlobalRoutingHeader.BYTES;

    DatagramConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsType() throws Exception {
        needs(open(), Feature.UD);
    }

    private Pair ready() throws Exception {
        return connected(datagrams(), datagrams());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 24, 25, 64, 1000, 4095, 4096})
    void datagramArrivesWithItsHeader(int length) throws Exception {
        Pair p = ready();
        p.near.fill(0, length, 3);
        assertPosted(p.far.postReceives(Op.receive(7).on(0, GRH + length), Op.receive(8).on(8192, GRH + length + 9)));
        sent(p, Op.send(1).on(0, length));
        Completion c = p.far.awaitReceive();
        assertReceived(7, GRH + length, c);
        assertThat(c.flags()).isEqualTo(WcFlags.GRH);
        assertThat(c.sourceQueuePair()).isEqualTo(p.nearAddress.queuePairNumber());
        assertThat(c.queuePairNumber()).isEqualTo(p.farAddress.queuePairNumber());
        assertThat(p.far.mismatch(GRH, length, 3)).isEqualTo(-1);
        List<String> ends = p.far.run(end -> {
            GlobalRoutingHeader h = GlobalRoutingHeader.of(end.at(0, GRH));
            return List.of(h.source().toString(), h.destination().toString());
        });
        assertThat(ends).containsExactly(p.nearAddress.gid(), p.farAddress.gid());

        sent(p, Op.sendImmediate(2, -5).on(0, length));
        c = p.far.awaitReceive();
        assertReceived(8, GRH + length, c);
        assertThat(c.flags()).isEqualTo(WcFlags.GRH | WcFlags.WITH_IMM);
        assertThat(c.immediate()).isEqualTo(-5);
        assertThat(p.far.mismatch(8192 + GRH, length, 3)).isEqualTo(-1);
    }

    @Test
    void receiverRepliesToTheAddressInTheHeader() throws Exception {
        Pair p = ready();
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 256)));
        assertPosted(p.near.postReceives(Op.receive(2).on(0, 256)));
        sent(p, Op.send(1).on(0, 8));
        p.far.act(end -> {
            Completion c = end.awaitReceive();
            AddressHandle back = end.keep(
                    end.pd.createAddressHandleToSender(c.flags(), end.at(0, GRH), 1));
            end.setLong(512, 4711);
            assertPosted(end.postTo(end.qp, back, c.sourceQueuePair(), datagrams().qkey, Op.send(3).on(512, 8)));
            assertStatus(WcStatus.SUCCESS, 3, end.awaitSend());
        });
        assertReceived(2, GRH + 8, p.near.awaitReceive());
        assertThat(p.near.getLong(GRH)).isEqualTo(4711);
    }

    @Test
    void buffersAreScatteredAndGatheredAndInline() throws Exception {
        Pair p = ready();
        p.near.fill(0, 300, 5);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, GRH).on(1000, 100).on(2000, 500),
                Op.receive(2).on(4000, 10).on(5000, 1000)));
        sent(p, Op.send(1).on(0, 50).on(50, 250));
        assertReceived(1, GRH + 300, p.far.awaitReceive());
        byte[] expected = p.near.bytes(0, 300);
        assertThat(p.far.bytes(1000, 100)).isEqualTo(java.util.Arrays.copyOf(expected, 100));
        assertThat(p.far.bytes(2000, 200)).isEqualTo(java.util.Arrays.copyOfRange(expected, 100, 300));
        sent(p, Op.send(2).inlineFrom(0, 60));
        assertReceived(2, GRH + 60, p.far.awaitReceive());
        assertThat(p.far.mismatch(5000 + GRH - 10, 60, 5)).isEqualTo(-1);
    }

    @Test
    void registeredMemoryIsSentAndReceived() throws Exception {
        EndOptions o = datagrams().memory(EndOptions.Memory.REGISTERED);
        Pair p = connected(o, datagrams().memory(EndOptions.Memory.REGISTERED));
        p.near.fill(0, 2000, 6);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 4096)));
        sent(p, Op.send(1).on(0, 2000));
        assertReceived(1, GRH + 2000, p.far.awaitReceive());
        assertThat(p.far.mismatch(GRH, 2000, 6)).isEqualTo(-1);
    }

    @Test
    void datagramWithoutAReceiveIsLost() throws Exception {
        Pair p = ready();
        beginLosses(p);
        sent(p, Op.send(1).on(0, 8));
        awaitLosses(p, 1);
        assertPosted(p.far.postReceives(Op.receive(5).on(0, 100)));
        for (int i = 0; i < 3; i++) {
            p.near.setLong(0, 100 + i);
            sent(p, Op.send(2).on(0, 8));
        }
        assertReceived(5, GRH + 8, p.far.awaitReceive());
        assertThat(p.far.getLong(GRH)).isEqualTo(100);
        awaitLosses(p, 3);
        // a datagram that found no receive does not arrive later
        assertPosted(p.far.postReceives(Op.receive(6).on(0, 100)));
        p.far.act(End::expectNoCompletion);
        p.near.setLong(0, 200);
        sent(p, Op.send(3).on(0, 8));
        assertReceived(6, GRH + 8, p.far.awaitReceive());
        assertThat(p.far.getLong(GRH)).isEqualTo(200);
    }

    @Test
    void tooShortReceiveIsNotUsed() throws Exception {
        Pair p = ready();
        assertPosted(p.far.postReceives(Op.receive(5).on(0, GRH + 8)));
        sent(p, Op.send(1).on(0, 9));
        p.near.setLong(0, 77);
        sent(p, Op.send(2).on(0, 8));
        assertReceived(5, GRH + 8, p.far.awaitReceive());
        assertThat(p.far.getLong(GRH)).isEqualTo(77);
        assertThat(p.far.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void datagramWithAWrongQkeyIsDropped() throws Exception {
        Pair p = ready();
        assertPosted(p.far.postReceives(Op.receive(5).on(0, 100)));
        assertPosted(p.near.postTo(p.near.qp, p.farAddress, 1, Op.send(1).on(0, 8)));
        assertStatus(WcStatus.SUCCESS, 1, p.near.awaitSend());
        p.far.act(End::expectNoCompletion);
        // the top bit: the key of the queue pair
        assertPosted(p.near.postTo(p.near.qp, p.farAddress, 0x8000_0001, Op.send(2).on(0, 8)));
        assertReceived(5, GRH + 8, p.far.awaitReceive());
    }

    @Test
    void datagramToNobodyIsLost() throws Exception {
        Pair p = ready();
        EndAddress far = p.farAddress;
        assertPosted(p.near.postTo(p.near.qp, p.near.handle(far.gid()), far.queuePairNumber() ^ 0x800, datagrams().qkey,
                Op.send(1).on(0, 8)));
        assertStatus(WcStatus.SUCCESS, 1, p.near.awaitSend());
        assertPosted(p.near.postTo(p.near.qp, p.near.handle(far.gid()), QueuePair.MULTICAST, datagrams().qkey,
                Op.send(2).on(0, 8)));
        assertStatus(WcStatus.SUCCESS, 2, p.near.awaitSend());
        // an unassigned address
        Gid gid = Gid.parse(far.gid());
        assertPosted(p.near.postTo(p.near.qp, p.near.handle(new Gid(gid.high(), gid.low() ^ 0x5555).toString()), 16,
                datagrams().qkey, Op.send(3).on(0, 8)));
        assertStatus(WcStatus.SUCCESS, 3, p.near.awaitSend());
        assertPosted(p.far.postReceives(Op.receive(9).on(0, 100)));
        sent(p, Op.send(4).on(0, 8));
        assertReceived(9, GRH + 8, p.far.awaitReceive());
    }

    @Test
    void receiverTakesDatagramsInReadyStatesOnly() throws Exception {
        Pair p = pair(datagrams(), datagrams());
        p.near.toReady(p.near.qp);
        sent(p, Op.send(1).on(0, 8)); // in RESET
        p.far.act(End::toInit);
        assertPosted(p.far.postReceives(Op.receive(5).on(0, 100), Op.receive(6).on(0, 100)));
        sent(p, Op.send(2).on(0, 8));
        EndAddress near = p.nearAddress;
        p.far.act(end -> end.toRtr(near));
        p.near.setLong(0, 3);
        sent(p, Op.send(3).on(0, 8));
        assertReceived(5, GRH + 8, p.far.awaitReceive());
        assertThat(p.far.getLong(GRH)).isEqualTo(3);
        p.far.to(QueuePairState.ERR);
        boolean shared = adapted(EndOptions.datagrams()).sharedReceives;
        if (!shared) {
            assertStatus(WcStatus.WR_FLUSH_ERR, 6, p.far.awaitReceive());
        }
        sent(p, Op.send(4).on(0, 8));
        p.far.act(end -> {
            end.to(QueuePairState.RESET);
            end.toReady(end.qp);
        });
        assertPosted(p.far.postReceives(Op.receive(7).on(0, 100)));
        p.near.setLong(0, 5);
        sent(p, Op.send(5).on(0, 8));
        // a shared queue keeps what its queue pairs did not take
        assertReceived(shared ? 6 : 7, GRH + 8, p.far.awaitReceive());
        assertThat(p.far.getLong(GRH)).isEqualTo(5);
    }

    @Test
    void tooLongDatagramStopsSending() throws Exception {
        Pair p = ready();
        int mtu = p.near.context.queryPort(1).maxMtu();
        assertPosted(p.near.postTo(p.farAddress, Op.send(1).on(0, mtu + 1L), Op.send(2).on(0, 8)));
        List<Completion> c = p.near.awaitSends(2);
        assertStatus(WcStatus.LOC_LEN_ERR, 1, c.get(0));
        assertStatus(WcStatus.WR_FLUSH_ERR, 2, c.get(1));
        assertThat(p.near.state()).isEqualTo(QueuePairState.SQE);
        p.near.to(QueuePairState.RTS);
        assertPosted(p.near.postTo(p.farAddress, Op.send(3).onKey(0x7fffff01, 0, 100)));
        assertStatus(WcStatus.LOC_PROT_ERR, 3, p.near.awaitSend());
        assertThat(p.near.state()).isEqualTo(QueuePairState.SQE);
        p.near.to(QueuePairState.RTS);
        assertPosted(p.far.postReceives(Op.receive(5).on(0, 100)));
        sent(p, Op.send(4).on(0, 8));
        assertReceived(5, GRH + 8, p.far.awaitReceive());
    }

    @Test
    void receiveIntoForeignMemoryFails() throws Exception {
        Pair p = ready();
        assertPosted(p.far.postReceives(Op.receive(5).onKey(0x7fffff01, 0, 1000)));
        sent(p, Op.send(1).on(0, 8));
        assertStatus(fixture.wrongReceive(), 5, p.far.awaitReceive());
        p.far.awaitState(QueuePairState.ERR);
    }

    @Test
    void operationsOtherThanSendAreRefused() throws Exception {
        Pair p = ready();
        for (Op op : List.of(Op.write(1, p.farAddress, 0).on(0, 8), Op.writeImmediate(1, p.farAddress, 0, 1).on(0, 8),
                Op.read(1, p.farAddress, 0).on(0, 8), Op.fetchAndAdd(1, p.farAddress, 0, 1).on(0, 8),
                Op.compareAndSwap(1, p.farAddress, 0, 1, 2).on(0, 8))) {
            assertRefused(Errno.EINVAL, p.near.postTo(p.farAddress, op));
        }
        // without a destination, one of another domain, one that is closed
        assertRefused(Errno.EINVAL, p.near.post(p.near.qp, Op.send(1).on(0, 8)));
        assertRefused(Errno.EINVAL, p.near.qp.sendQueue().start().send(1, 0).send(2, 0)
                .datagram(p.near.handle(p.farAddress.gid()), 16, 1).complete());
        ProtectionDomain other = p.near.keep(p.near.context.allocateProtectionDomain());
        AddressHandle foreign = other.createAddressHandle(p.farAddress.vector());
        assertRefused(Errno.EINVAL, p.near.postTo(p.near.qp, foreign, 16, 1, Op.send(1).on(0, 8)));
        assertErrno(Errno.EBUSY, other::close);
        foreign.close();
        AddressHandle closed = p.near.pd.createAddressHandle(p.farAddress.vector());
        closed.close();
        assertRefused(Errno.EINVAL, p.near.postTo(p.near.qp, closed, 16, 1, Op.send(1).on(0, 8)));
        p.near.expectNoCompletion();
        assertThat(p.near.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void invalidPathsAreRefused() throws Exception {
        End end = end(datagrams());
        Gid gid = end.context.queryGid(1, 0);
        for (AddressVector bad : List.of(AddressVector.builder(gid).port(2).build(),
                AddressVector.builder(gid).port(0).build(),
                AddressVector.builder(gid).sourceGidIndex(end.context.queryPort(1).gidTableLength()).build(),
                AddressVector.builder(gid).sourceGidIndex(-1).build(), AddressVector.to(new Gid(0, 0)))) {
            assertErrno(Errno.EINVAL, () -> end.pd.createAddressHandle(bad));
        }
        assertErrno(Errno.EINVAL, () -> end.context.pathToSender(0, end.at(0, 100), 1));
        assertErrno(Errno.EINVAL, () -> end.context.pathToSender(WcFlags.GRH, end.at(0, 39), 1));
        assertErrno(Errno.EINVAL, () -> end.context.pathToSender(WcFlags.GRH, end.at(0, 100), 1));
        AddressHandle h = end.pd.createAddressHandle(AddressVector.builder(gid).trafficClass(3).build());
        assertThat(h.vector().trafficClass()).isEqualTo(3);
        assertThat(h.protectionDomain()).isEqualTo(end.pd);
        h.close();
        h.close();
    }

    @Test
    void oneToManyAndManyToOneDeliver() throws Exception {
        End near = end(datagrams().queues(512));
        near.toReady(near.qp);
        List<Far> fars = new ArrayList<>();
        List<EndAddress> addresses = new ArrayList<>();
        EndAddress back = near.address();
        for (int i = 0; i < 4; i++) {
            Far far = readyFar(datagrams().queues(64));
            assertPosted(far.postReceives(Op.receives(20, 100, 100)));
            fars.add(far);
            addresses.add(far.address());
        }
        for (int k = 0; k < 20; k++) {
            for (int i = 0; i < 4; i++) {
                near.setLong(8L * i, 1000L * i + k);
                assertPosted(near.postTo(addresses.get(i), Op.send(k).on(8L * i, 8)));
                near.awaitSend();
            }
        }
        assertPosted(near.postReceives(Op.receives(200, 64, 64)));
        for (int i = 0; i < 4; i++) {
            assertThat(fars.get(i).awaitReceives(20)).extracting(Completion::wrId)
                    .containsExactly(java.util.stream.LongStream.range(0, 20).boxed().toArray(Long[]::new));
            int sender = i;
            fars.get(i).act(end -> {
                for (int k = 0; k < 20; k++) {
                    assertThat(end.getLong(100 * k + GRH)).isEqualTo(1000 * sender + k);
                    end.setLong(8000, k);
                    assertPosted(end.postTo(back, Op.send(k).on(8000, 8)));
                    assertStatus(WcStatus.SUCCESS, k, end.awaitSend());
                }
            });
        }
        long[] next = new long[4];
        for (Completion c : near.awaitReceives(80)) {
            int sender = 0;
            while (addresses.get(sender).queuePairNumber() != c.sourceQueuePair() || next[sender] == 20) {
                sender++;
            }
            next[sender]++;
        }
        assertThat(next).containsOnly(20);
    }

    @Test
    void datagramsOfOneSenderStayInOrder() throws Exception {
        Pair p = connected(datagrams().queues(256), datagrams().queues(256));
        assertPosted(p.far.postReceives(Op.receives(200, 80, 80)));
        int enough = Thorough.ON ? 3000 : 1000;
        p.far.start(end -> {
            long last = -1;
            int got = 0;
            try {
                while (got < enough) {
                    for (Completion c : End.poll(end.receiveCq, 16)) {
                        long value = end.getLong(80 * c.wrId() + GRH);
                        assertThat(value).isGreaterThan(last);
                        last = value;
                        got++;
                        assertPosted(end.postReceives(Op.receive(c.wrId()).on(80L * c.wrId(), 80)));
                    }
                }
            } finally {
                end.later = "done";
            }
            return got;
        });
        long number = 0;
        while (!p.far.run(end -> end.later != null)) { // some may be lost, so it sends until enough have come
            for (int i = 0; i < 300; i++) {
                p.near.setLong(0, number++);
                sent(p, Op.send(number).inlineFrom(0, 8));
            }
        }
        assertThat((Integer) p.far.join()).isGreaterThanOrEqualTo(enough);
    }

    @Test
    void slowReceiverBlocksNobody() throws Exception {
        Pair p = connected(datagrams(), datagrams().queues(16));
        for (int i = 0; i < 16; i++) {
            assertPosted(p.far.postReceives(Op.receive(i).on(4200L * (i % 8), 4200)));
        }
        for (int i = 0; i < (Thorough.ON ? 20_000 : 4000); i++) {
            assertPosted(p.near.postTo(p.farAddress, Op.send(i).on(0, 4096)));
            assertStatus(WcStatus.SUCCESS, i, p.near.awaitSend());
        }
        assertThat(p.far.awaitReceives(16)).extracting(Completion::wrId)
                .containsExactly(java.util.stream.LongStream.range(0, 16).boxed().toArray(Long[]::new));
        p.far.act(End::expectNoCompletion);
    }

    @Test
    void sleepingReceiverIsWoken() throws Exception {
        Pair p = connected(datagrams(), datagrams().channel());
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 100), Op.receive(2).on(0, 100)));
        p.far.act(end -> assertThat(end.receiveCq.requestNotify(false)).isZero());
        p.far.start(end -> {
            boolean woken = end.channel != null && end.channel.await(Await.LIMIT) == end.receiveCq;
            Completion first = end.awaitReceive();
            assertThat(end.receiveCq.requestNotify(true)).isZero();
            end.later = "armed";
            return woken && first.wrId() == 1 && end.channel.await(Await.LIMIT) == end.receiveCq;
        });
        sent(p, Op.send(1).on(0, 8));
        Await.until("armed", () -> p.far.run(end -> end.later != null), () -> "it is not");
        sent(p, Op.send(2).and(SendFlags.SOLICITED).on(0, 8));
        assertThat(p.far.join()).isEqualTo(true);
    }

    @Test
    void moderatedEventsCountPendingDatagrams() throws Exception {
        Pair p = connected(datagrams(), datagrams().channel());
        p.far.act(end -> needs(end.context, Feature.CQ_MODERATION));
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 100), Op.receive(2).on(100, 100),
                Op.receive(3).on(200, 100)));
        p.far.act(end -> {
            end.receiveCq.modify(CompletionQueueModification.moderate(3, 0));
            assertThat(end.receiveCq.requestNotify(false)).isZero();
        });
        p.far.start(end -> end.channel != null && end.channel.await(Await.LIMIT) == end.receiveCq);
        for (int i = 1; i <= 3; i++) {
            sent(p, Op.send(i).on(0, 8));
        }
        assertThat(p.far.join()).isEqualTo(true);
        assertThat(p.far.awaitReceives(3)).extracting(Completion::wrId).containsExactly(1L, 2L, 3L);
    }

    @Test
    void manyQueuePairsShareOneCompletionQueue() throws Exception {
        Pair p = ready();
        List<EndAddress> all = p.far.run(end -> {
            List<EndAddress> list = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                QueuePair q = end.queuePair();
                end.toReady(q);
                assertPosted(end.postReceives(q, Op.receive(i).on(100L * i, 100)));
                list.add(end.address(q));
            }
            return new ArrayList<>(list);
        });
        for (int i = 19; i >= 0; i--) {
            assertPosted(p.near.postTo(all.get(i), Op.send(i).on(0, 8)));
        }
        p.near.awaitSends(20);
        assertThat(p.far.awaitReceives(20)).extracting(Completion::wrId)
                .containsExactlyInAnyOrder(java.util.stream.LongStream.range(0, 20).boxed().toArray(Long[]::new));
    }

    // ---- services

    private static DatagramService provide(End end, int port, byte... data) throws VerbsException {
        return end.keep(end.context.connectionManager().provide(new InetSocketAddress(port), end.qp, data));
    }

    private Pair withServices() throws Exception {
        needs(open(), Feature.DATAGRAM_SERVICE);
        return pair(datagrams(), datagrams());
    }

    @Test
    void serviceIsFoundByItsAddress() throws Exception {
        Pair p = withServices();
        InetSocketAddress at = fixture.listenerAt(p.far.run(end -> provide(end, 0, (byte) 7, (byte) 8)
                .localAddress()));
        p.near.toInit();
        p.near.toRtr(p.nearAddress);
        p.near.toRts();
        DatagramPeer peer = p.near.context.connectionManager().resolve(at, Await.LIMIT);
        assertThat(peer.qkey()).isEqualTo(DatagramService.QKEY);
        assertThat(peer.queuePairNumber()).isEqualTo(p.far.run(end -> end.qp.number()));
        assertThat(peer.privateData()).startsWith(7, 8);
        assertPosted(p.far.postReceives(Op.receive(5).on(0, 256)));
        p.near.setLong(0, 4711);
        AddressHandle to = p.near.keep(p.near.pd.createAddressHandle(peer.addressVector()));
        assertPosted(p.near.postTo(p.near.qp, to, peer.queuePairNumber(), peer.qkey(), Op.send(1).on(0, 8)));
        assertStatus(WcStatus.SUCCESS, 1, p.near.awaitSend());
        assertReceived(5, GRH + 8, p.far.awaitReceive());
        assertThat(p.far.getLong(GRH)).isEqualTo(4711);
    }

    @Test
    void missingServiceIsReported() throws Exception {
        Pair p = withServices();
        InetSocketAddress at = fixture.listenerAt(p.far.run(end -> {
            DatagramService s = provide(end, 0);
            InetSocketAddress a = s.localAddress();
            assertErrno(Errno.EADDRINUSE, () -> provide(end, a.getPort()), "port " + a.getPort());
            assertErrno(Errno.EBUSY, end.qp::close, "uses");
            s.close();
            return a;
        }));
        assertErrno(Errno.ECONNREFUSED, () -> p.near.context.connectionManager().resolve(at, Await.LIMIT),
                "port " + at.getPort());
        p.far.act(end -> provide(end, at.getPort()));
        assertThat(p.near.context.connectionManager().resolve(at, Await.LIMIT).privateData()).containsOnly(0);
    }

    @Test
    void invalidServicesAreRefused() throws Exception {
        Pair p = withServices();
        ConnectionManager cm = p.near.context.connectionManager();
        assertErrno(Errno.EADDRNOTAVAIL, () -> cm.provide(new InetSocketAddress("192.0.2.99", 0), p.near.qp),
                "192.0.2.99");
        assertErrno(Errno.EINVAL, () -> cm.provide(new InetSocketAddress(0), p.near.queuePairOfType(QueuePairType.RC)),
                "type RC");
        byte[] tooLong = new byte[ConnectionParameters.MAX_PRIVATE_DATA + 1];
        assertErrno(Errno.EINVAL, () -> cm.provide(new InetSocketAddress(0), p.near.qp, tooLong), "57 bytes");
        assertErrno(Errno.EINVAL, () -> cm.resolve(new InetSocketAddress("localhost", 1), Await.LIMIT, tooLong),
                "57 bytes");
    }
}
