// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.EnhancedConnection;
import org.verbena.verbs.Feature;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairCapabilities;
import org.verbena.verbs.QueuePairCreateFlags;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RateLimit;
import org.verbena.verbs.SendOperations;

/** Creating queue pairs of all types with the extended attributes, and querying them. */
abstract class QueuePairsConformance extends Conformance {
    private End end;

    QueuePairsConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    @BeforeEach
    void openEnd() throws Exception {
        end = end(EndOptions.defaults());
    }

    private QueuePairInitAttributes.Builder init(int type) {
        return QueuePairInitAttributes.builder(end.sendCq, end.receiveCq).type(type);
    }

    private QueuePair create(QueuePairInitAttributes.Builder b) throws Exception {
        return end.keep(end.pd.createQueuePair(b.build()));
    }

    private void needsType(int type) {
        needs(end.context, switch (type) {
            case QueuePairType.UC -> Feature.UC;
            case QueuePairType.UD -> Feature.UD;
            default -> Feature.RC;
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {QueuePairType.RC, QueuePairType.UC, QueuePairType.UD})
    void requestedCapabilitiesAreProvided(int type) throws Exception {
        needsType(type);
        Object mine = new Object();
        QueuePair qp = create(init(type).maxSendWr(7).maxReceiveWr(5).maxSendSge(3).maxReceiveSge(2).maxInlineData(33)
                .sqSigAll(true).userContext(mine));
        QueuePairInitAttributes i = qp.initAttributes();
        assertThat(i.type()).isEqualTo(type);
        assertThat(qp.userContext()).isSameAs(mine);
        assertThat(i.sendCq()).isSameAs(end.sendCq);
        assertThat(i.receiveCq()).isSameAs(end.receiveCq);
        assertThat(i.sqSigAll()).isTrue();
        assertThat(i.compMask()).isZero();
        QueuePairAttributes a = qp.query();
        assertThat(a.state()).isEqualTo(QueuePairState.RESET);
        QueuePairCapabilities c = a.capabilities();
        assertThat(c).isNotNull();
        assertThat(c.maxSendWr()).isEqualTo(i.maxSendWr()).isGreaterThanOrEqualTo(7);
        assertThat(c.maxReceiveWr()).isEqualTo(i.maxReceiveWr()).isGreaterThanOrEqualTo(5);
        assertThat(c.maxSendSge()).isEqualTo(i.maxSendSge()).isGreaterThanOrEqualTo(3);
        assertThat(c.maxReceiveSge()).isEqualTo(i.maxReceiveSge()).isGreaterThanOrEqualTo(2);
        assertThat(c.maxInlineData()).isEqualTo(i.maxInlineData()).isGreaterThanOrEqualTo(33);
    }

    @ParameterizedTest
    @ValueSource(ints = {QueuePairType.RC, QueuePairType.UC, QueuePairType.UD})
    void capabilitiesBeyondTheDeviceAreRefused(int type) throws Exception {
        needsType(type);
        DeviceAttributes d = end.context.queryDevice();
        for (QueuePairInitAttributes.Builder b : List.of(init(type).maxSendWr(d.maxQpWr() + 1),
                init(type).maxReceiveWr(d.maxQpWr() + 1), init(type).maxSendSge(d.maxSge() + 1),
                init(type).maxReceiveSge(d.maxSge() + 1), init(type).maxInlineData(d.maxInlineData() + 1),
                init(type).maxSendWr(-1))) {
            assertErrno(Errno.EINVAL, () -> end.pd.createQueuePair(b.build()));
        }
    }

    @Test
    void createFlagsAreSupportedOrRefused() throws Exception {
        assertErrno(Errno.EINVAL, () -> create(init(QueuePairType.RC).createFlags(1 << 30)), "createFlags");
        assertErrno(Errno.EINVAL, () -> create(init(QueuePairType.RC)
                .createFlags(QueuePairCreateFlags.BLOCK_SELF_MCAST_LB)), "BLOCK_SELF_MCAST_LB");
        create(init(QueuePairType.RC).createFlags(0));
    }

    @Test
    void onlyRequestedOperationsMayBePosted() throws Exception {
        QueuePair qp = create(init(QueuePairType.RC).sendOperations(SendOperations.SEND | SendOperations.READ)
                .maxSendWr(16));
        QueuePair partner = create(init(QueuePairType.RC));
        for (QueuePair q : List.of(qp, partner)) {
            end.toInit(q);
        }
        end.toRtr(qp, end.address(partner));
        end.toRtr(partner, end.address(qp));
        end.toRts(qp);
        EndAddress self = end.address();
        for (End.Posting how : End.Posting.values()) {
            end.posting = how;
            assertRefused(Errno.EINVAL, end.post(qp, Op.write(1, self, 0).on(0, 8)));
            assertRefused(Errno.EINVAL, end.post(qp, Op.sendImmediate(1, 2).on(0, 8)));
            assertRefused(Errno.EINVAL, end.post(qp, Op.fetchAndAdd(1, self, 0, 1).on(0, 8)));
            assertPosted(end.post(qp, Op.read(3, self, 0).on(8, 8)));
            assertStatus(org.verbena.verbs.WcStatus.SUCCESS, 3, end.awaitSend());
        }
        assertPosted(end.postReceives(partner, Op.receive(1).on(0, 8)));
        assertPosted(end.post(qp, Op.send(2).on(8, 8)));
        assertReceived(1, 8, end.awaitReceive());
    }

    @Test
    void operationsUnknownToTheTypeCannotBeRequested() throws Exception {
        for (int type : List.of(QueuePairType.UC, QueuePairType.UD)) {
            needsType(type);
            assertErrno(Errno.EOPNOTSUPP, () -> create(init(type).sendOperations(SendOperations.READ)), "READ");
        }
        assertErrno(Errno.EOPNOTSUPP, () -> create(init(QueuePairType.RC).sendOperations(1 << 29)));
    }

    @ParameterizedTest
    @ValueSource(ints = {QueuePairType.UC, QueuePairType.UD})
    void postsForbiddenByStateOrSizeAreRefused(int type) throws Exception {
        needsType(type);
        End e = end(EndOptions.defaults().type(type).queues(4).maxSge(2));
        EndAddress self = e.address();
        Op send = Op.send(1).on(0, 8);
        assertRefused(Errno.EINVAL, e.postReceives(Op.receive(1).on(0, 64)));
        assertRefused(Errno.EINVAL, post(e, type, self, send));
        e.toInit();
        assertRefused(Errno.EINVAL, post(e, type, self, send));
        e.toRtr(self);
        assertRefused(Errno.EINVAL, post(e, type, self, send));
        assertRefused(Errno.EINVAL, e.postReceives(Op.receive(1).on(0, 8).on(8, 8).on(16, 8)));
        int places = fixture.queueSize(4);
        for (int i = 0; i < places; i++) {
            assertPosted(e.postReceives(Op.receive(i).on(1000 + 100L * i, 64)));
        }
        assertRefused(Errno.ENOMEM, e.postReceives(Op.receive(5).on(0, 64)));
        e.toRts();
        Op tooMany = send;
        for (int i = 0; i < e.qp.initAttributes().maxSendSge(); i++) {
            tooMany = tooMany.on(8, 8);
        }
        assertRefused(Errno.EINVAL, post(e, type, self, tooMany));
        assertRefused(Errno.EINVAL, post(e, type, self, Op.send(1).inlineFrom(0, e.device.maxInlineData() + 1L)));
        assertRefused(Errno.EINVAL, post(e, type, self, send.and(1 << 20)));
        assertRefused(Errno.ENOMEM, post(e, type, self, send, send, send, send, send));
        assertPosted(post(e, type, self, send, send, send, send));
        if (!fixture.freesWhatIsNotPolled()) {
            assertRefused(Errno.ENOMEM, post(e, type, self, send));
        }
        e.awaitSends(4);
        assertPosted(post(e, type, self, Op.send(2).on(0, 0)));
        e.awaitSend();
        // each connected to itself: what was sent has come
        assertThat(e.awaitReceives(4)).extracting(Completion::wrId).containsExactly(0L, 1L, 2L, 3L);
        e.to(QueuePairState.ERR);
        assertPosted(post(e, type, self, send));
        assertStatus(org.verbena.verbs.WcStatus.WR_FLUSH_ERR, 1, e.awaitSend());
    }

    private static int post(End e, int type, EndAddress self, Op... ops) throws Exception {
        return type == QueuePairType.UD ? e.postTo(self, ops) : e.post(ops);
    }

    @Test
    void memoryOrderIsReported() throws Exception {
        int known = QueuePair.DATA_IN_ORDER_WHOLE_MESSAGE | QueuePair.DATA_IN_ORDER_ALIGNED_128_BYTES;
        QueuePair qp = create(init(QueuePairType.RC));
        assertThat(qp.queryDataInOrder(SendOperations.WRITE) & ~known).isZero();
    }

    /** Options of a connection and rate limits need the right state and valid values, if they are supported. */
    @Test
    void optionsInTheWrongStateAreRefused() throws Exception {
        QueuePair qp = create(init(QueuePairType.RC));
        boolean limits = end.context.supports(Feature.RATE_LIMIT);
        assertErrno(limits ? Errno.EINVAL : Errno.EOPNOTSUPP, () -> qp.modifyRateLimit(RateLimit.of(1000, 0, 0)));
        boolean options = end.context.supports(Feature.ENHANCED_CONNECTION);
        assertErrno(options ? Errno.EINVAL : Errno.EOPNOTSUPP,
                () -> qp.setEnhancedConnection(EnhancedConnection.of(0, -1)));
    }

    @Test
    void datagramQueuePairFollowsItsStates() throws Exception {
        needsType(QueuePairType.UD);
        QueuePair qp = create(init(QueuePairType.UD));
        assertErrno(Errno.EINVAL, () -> qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1)
                .build()), "QKEY");
        assertErrno(Errno.EINVAL, () -> qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1)
                .qkey(1).accessFlags(0).build()), "ACCESS_FLAGS");
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(17).build());
        assertThat(qp.query().qkey()).isEqualTo(17);
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
        assertErrno(Errno.EINVAL, () -> qp.modify(QueuePairAttributes.to(QueuePairState.RTS).build()), "SQ_PSN");
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(5).qkey(18).build());
        assertThat(qp.query().qkey()).isEqualTo(18);
        assertErrno(Errno.EINVAL, () -> qp.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(3).build()));
        qp.modify(QueuePairAttributes.to(QueuePairState.SQD).build());
        qp.modify(QueuePairAttributes.builder().qkey(19).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
        assertThat(qp.state()).isEqualTo(QueuePairState.RESET);
    }
}
