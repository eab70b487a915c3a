// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.tests.conformance.EndOptions.datagrams;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairCreateFlags;
import org.verbena.verbs.WcStatus;

/** Datagrams to multicast groups. */
abstract class MulticastConformance extends Conformance {
    private static final int GRH = GlobalRoutingHeader.BYTES;

    /** A group that no other test uses at the same time. */
    private final String group = newGroup(fixture);

    MulticastConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsMulticast() throws Exception {
        needs(open(), Feature.MULTICAST);
    }

    static String newGroup(ConformanceFixture fixture) {
        return fixture.group(ThreadLocalRandom.current().nextLong()).toString();
    }

    private void attach(Far far) throws Exception {
        String g = group;
        far.act(end -> end.attach(end.qp, Gid.parse(g)));
    }

    private void sent(End near, Op op) throws Exception {
        sent(near, group, op);
    }

    static void sent(End near, String group, Op op) throws Exception {
        assertPosted(near.postToGroup(group, op));
        assertStatus(WcStatus.SUCCESS, op.wrId(), near.awaitSend());
    }

    static void received(Far far, long wrId, long offset, long value) throws Exception {
        assertReceived(wrId, GRH + 8, far.awaitReceive());
        assertThat(far.getLong(offset + GRH)).isEqualTo(value);
    }

    @Test
    void eachMemberReceivesEachMessageOnce() throws Exception {
        Pair p = connected(datagrams(), datagrams());
        Far third = readyFar(datagrams());
        Far stranger = readyFar(datagrams());
        attach(p.far);
        attach(p.far); // attaching twice counts once
        attach(third);
        for (Far f : List.of(p.far, third, stranger)) {
            assertPosted(f.postReceives(Op.receive(1).on(0, 100), Op.receive(2).on(200, 100)));
        }
        p.near.setLong(0, 11);
        sent(p.near, Op.send(1).on(0, 8));
        received(p.far, 1, 0, 11);
        received(third, 1, 0, 11);
        p.far.act(End::expectNoCompletion);
        stranger.act(End::expectNoCompletion);

        String header = p.far.run(end -> GlobalRoutingHeader.of(end.at(0, GRH)).destination().toString());
        assertThat(header).isEqualTo(group);

        String g = group;
        p.far.act(end -> end.qp.detachMulticast(Gid.parse(g), 0));
        p.near.setLong(0, 12);
        sent(p.near, Op.send(2).on(0, 8));
        received(third, 2, 200, 12);
        p.far.act(End::expectNoCompletion);
        p.far.act(end -> assertErrno(Errno.EINVAL, () -> end.qp.detachMulticast(Gid.parse(g), 0), "not attached"));
    }

    @Test
    void laterMemberReceives() throws Exception {
        Pair p = connected(datagrams(), datagrams());
        sent(p.near, Op.send(1).on(0, 8)); // without members
        attach(p.far);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 100)));
        p.near.setLong(0, 5);
        sent(p.near, Op.send(2).on(0, 8));
        received(p.far, 1, 0, 5);
        // and does no more when it is gone
        Far late = readyFar(datagrams());
        attach(late);
        late.act(end -> end.qp.close());
        sent(p.near, Op.send(3).on(0, 8));
    }

    @Test
    void senderMayBeAMember() throws Exception {
        Pair p = connected(datagrams(), datagrams());
        p.near.attach(p.near.qp, Gid.parse(group));
        attach(p.far);
        assertPosted(p.near.postReceives(Op.receive(1).on(100, 100)));
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 100)));
        p.near.setLong(0, 21);
        sent(p.near, Op.send(1).on(0, 8));
        received(p.far, 1, 0, 21);
        assertReceived(1, GRH + 8, p.near.awaitReceive());
        assertThat(p.near.getLong(100 + GRH)).isEqualTo(21);
    }

    @Test
    void senderMaySuppressItsOwnMessages() throws Exception {
        needs(Feature.BLOCK_SELF_MULTICAST);
        Far far = readyFar(datagrams());
        attach(far);
        End silent = end(datagrams().createFlags(QueuePairCreateFlags.BLOCK_SELF_MCAST_LB));
        silent.toReady(silent.qp);
        silent.attach(silent.qp, Gid.parse(group));
        assertPosted(silent.postReceives(Op.receive(1).on(100, 100)));
        assertPosted(far.postReceives(Op.receive(2).on(0, 100)));
        silent.setLong(0, 22);
        sent(silent, Op.send(1).on(0, 8));
        received(far, 2, 0, 22);
        silent.expectNoCompletion();
    }

    private static Gid ipv4Group() {
        return new Gid(0, 0xffff_ef01_0007L | ThreadLocalRandom.current().nextLong(256) << 8);
    }

    /** A handle from an IPv4 address of the port, if it has one. */
    private static AddressHandle handle(End end, Gid ipv4Group) throws Exception {
        int source = end.context.queryGidTable().stream().filter(e -> e.gid().high() == 0 && e.gid()
                .low() >>> 32 == 0xffff)
                .mapToInt(GidEntry::index).findFirst().orElse(0);
        return end.keep(end.pd.createAddressHandle(AddressVector.builder(ipv4Group).sourceGidIndex(source).build()));
    }

    @Test
    void ipv4GroupIsAccepted() throws Exception {
        Gid mapped = ipv4Group();
        assertThat(mapped.isMulticast()).as("%s", mapped).isTrue();
        long low = mapped.low();
        Pair p = connected(datagrams(), datagrams());
        p.far.act(end -> end.attach(end.qp, new Gid(0, low)));
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 100)));
        p.near.setLong(0, 31);
        assertPosted(p.near.postTo(p.near.qp, handle(p.near, mapped), QueuePair.MULTICAST, datagrams().qkey, Op.send(1)
                .on(0, 8)));
        received(p.far, 1, 0, 31);
    }

    @Test
    void memberIsNotReachedByItsQueuePairNumber() throws Exception {
        Gid mapped = ipv4Group();
        long low = mapped.low();
        Pair p = connected(datagrams(), datagrams());
        p.far.act(end -> end.attach(end.qp, new Gid(0, low)));
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 100)));
        assertPosted(p.near.postTo(p.near.qp, handle(p.near, mapped), p.farAddress.queuePairNumber(),
                datagrams().qkey, Op.send(2).on(0, 8)));
        p.near.awaitSend();
        p.far.act(End::expectNoCompletion);
    }

    @Test
    void invalidAttachmentsAreRefused() throws Exception {
        End rc = end(EndOptions.defaults());
        assertErrno(Errno.EINVAL, () -> rc.qp.attachMulticast(Gid.parse(group), 0), "UD", "RC");
        End ud = end(datagrams());
        assertErrno(Errno.EINVAL, () -> ud.qp.attachMulticast(Gid.parse("fe80::1"), 0), "multicast");
        assertErrno(Errno.EINVAL, () -> ud.qp.attachMulticast(Gid.parse("::ffff:10.0.0.1".replace("::ffff:", "2001::")),
                0));
        ud.qp.close();
        assertErrno(Errno.EINVAL, () -> ud.qp.attachMulticast(Gid.parse(group), 0), "closed");
        assertErrno(Errno.EINVAL, () -> rc.pd.createQueuePair(rc.initAttributes().toBuilder()
                .createFlags(QueuePairCreateFlags.BLOCK_SELF_MCAST_LB).build()), "BLOCK_SELF_MCAST_LB");
    }

    @Test
    void attachmentsAreLimited() throws Exception {
        End end = end(datagrams());
        int limit = end.device.maxMulticastAttachments();
        assertThat(limit).isPositive();
        assertThat(end.device.maxMulticastGroups()).isPositive();
        assertThat(end.device.maxMulticastQueuePairs()).isPositive();
        assertThat(end.device.maxAh()).isPositive();
        assertErrno(Errno.ENOMEM, () -> {
            for (int i = 0; i <= limit; i++) {
                end.qp.attachMulticast(fixture.group(i), 0);
            }
        });
        end.qp.detachMulticast(fixture.group(0), 0);
        end.qp.attachMulticast(Gid.parse(group), 0);
    }
}
