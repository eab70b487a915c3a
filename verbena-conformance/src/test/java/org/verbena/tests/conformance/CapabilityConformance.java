// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.Field;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.DeviceCapabilityFlags;
import org.verbena.verbs.Feature;
import org.verbena.verbs.FlushType;
import org.verbena.verbs.OdpCapabilities;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairCapabilities;
import org.verbena.verbs.QueuePairCreateFlags;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * The bits in which a device describes itself are true: each capability flag, and the on-demand operations of each
 * transport.
 */
abstract class CapabilityConformance extends Conformance {
    CapabilityConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    // ---- capability flags

    /** Determines whether the device has a capability. */
    @FunctionalInterface
    private interface Trial {
        boolean works(CapabilityConformance t, End e) throws Exception;
    }

    private static final Map<Long, Trial> TRIALS = trials();

    private static Map<Long, Trial> trials() {
        Map<Long, Trial> m = new LinkedHashMap<>();
        m.put(DeviceCapabilityFlags.RESIZE_MAX_WR, (t, e) -> isAllowed(() -> e.qp.modify(QueuePairAttributes.builder()
                .capabilities(QueuePairCapabilities.builder().maxSendWr(100).build()).build())));
        m.put(DeviceCapabilityFlags.BAD_PKEY_CNTR, (t, e) -> e.context.queryPort(1).badPkeyCounter().isPresent());
        m.put(DeviceCapabilityFlags.BAD_QKEY_CNTR, (t, e) -> t.countsWrongKeys());
        m.put(DeviceCapabilityFlags.UD_AV_PORT_ENFORCE, (t, e) -> !isAllowed(() -> e.pd
                .createAddressHandle(AddressVector.builder(e.context.queryGid(1, 0)).port(2).build()).close()));
        m.put(DeviceCapabilityFlags.CURR_QP_STATE_MOD, (t, e) -> t.honoursCurrentState());
        m.put(DeviceCapabilityFlags.RC_RNR_NAK_GEN, (t, e) -> t.saysThatThereIsNoReceive());
        m.put(DeviceCapabilityFlags.SYS_IMAGE_GUID, (t, e) -> e.device.systemImageGuid() != 0);
        m.put(DeviceCapabilityFlags.PCI_WRITE_END_PADDING,
                (t, e) -> creates(e, QueuePairType.RC, QueuePairCreateFlags.PCI_WRITE_END_PADDING));
        m.put(DeviceCapabilityFlags.RAW_SCATTER_FCS,
                (t, e) -> creates(e, QueuePairType.RAW_PACKET, QueuePairCreateFlags.SCATTER_FCS));
        m.put(DeviceCapabilityFlags.AUTO_PATH_MIG, supported(Feature.ALTERNATE_PATH));
        m.put(DeviceCapabilityFlags.SRQ_RESIZE, supported(Feature.SHARED_RECEIVE_QUEUE_RESIZE));
        m.put(DeviceCapabilityFlags.MEM_WINDOW, supported(Feature.MEMORY_WINDOW_TYPE_1));
        m.put(DeviceCapabilityFlags.MEM_WINDOW_TYPE_2A | DeviceCapabilityFlags.MEM_WINDOW_TYPE_2B,
                supported(Feature.MEMORY_WINDOW_TYPE_2));
        m.put(DeviceCapabilityFlags.MEM_MGT_EXTENSIONS, supported(Feature.SEND_INVALIDATE));
        m.put(DeviceCapabilityFlags.XRC, supported(Feature.XRC));
        m.put(DeviceCapabilityFlags.UD_IP_CSUM | DeviceCapabilityFlags.RC_IP_CSUM | DeviceCapabilityFlags.RAW_IP_CSUM,
                supported(Feature.IP_CHECKSUM));
        m.put(DeviceCapabilityFlags.MANAGED_FLOW_STEERING, supported(Feature.FLOW));
        m.put(DeviceCapabilityFlags.DUMMY_SEND, supported(Feature.DUMMY_SEND));
        return m;
    }

    /** Flags that no call of the API shows; a device with such a flag has at least its prerequisites. */
    private static final Map<Long, Trial> NEEDS = Map.of(
            DeviceCapabilityFlags.RAW_MULTI, supported(Feature.RAW_PACKET),
            DeviceCapabilityFlags.CHANGE_PHY_PORT, (t, e) -> e.device.physicalPortCount() > 1,
            DeviceCapabilityFlags.PORT_ACTIVE_EVENT, (t, e) -> e.device.physicalPortCount() > 0,
            DeviceCapabilityFlags.CC_DMA_BOUNCE, (t, e) -> true,
            DeviceCapabilityFlags.SHUTDOWN_PORT, (t, e) -> false,
            DeviceCapabilityFlags.INIT_TYPE, (t, e) -> false,
            DeviceCapabilityFlags.N_NOTIFY_CQ, (t, e) -> false);

    private static Trial supported(String feature) {
        return (t, e) -> e.context.supports(feature);
    }

    /** A verb that may be refused. */
    @FunctionalInterface
    private interface Verb {
        void call() throws VerbsException;
    }

    private static boolean isAllowed(Verb verb) {
        try {
            verb.call();
            return true;
        } catch (VerbsException e) {
            assertThat(e.errno()).as(e.getMessage()).isIn(Errno.EINVAL, Errno.EOPNOTSUPP);
            return false;
        }
    }

    private static boolean creates(End e, int type, int flags) {
        return isAllowed(() -> e.pd.createQueuePair(e.initAttributes().toBuilder().type(type).createFlags(flags)
                .build())
                .close());
    }

    private boolean countsWrongKeys() throws Exception {
        if (!open().supports(Feature.UD)) {
            return false;
        }
        Pair p = connected(EndOptions.datagrams(), EndOptions.datagrams());
        int before = p.far.run(end -> end.context.queryPort(1).qkeyViolationCounter().orElse(0));
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 100)));
        assertPosted(p.near.postTo(p.near.qp, p.farAddress, 1, Op.send(1).on(0, 8)));
        p.near.awaitSend();
        sent(p, Op.send(2).on(0, 8)); // comes after it
        p.far.awaitReceive();
        return p.far.run(end -> end.context.queryPort(1).qkeyViolationCounter().orElse(0)) > before;
    }

    private boolean honoursCurrentState() throws Exception {
        End e = connected().near;
        return isAllowed(() -> e.qp.modify(QueuePairAttributes.to(QueuePairState.RTS).currentState(QueuePairState.RTS)
                .build()))
                && !isAllowed(() -> e.qp.modify(QueuePairAttributes.to(QueuePairState.RTS)
                        .currentState(QueuePairState.SQD).build()));
    }

    private boolean saysThatThereIsNoReceive() throws Exception {
        Pair p = connected(EndOptions.defaults().rnrRetry(0), EndOptions.defaults());
        assertPosted(p.near.post(Op.send(1).on(0, 8)));
        return p.near.awaitSend().status() == WcStatus.RNR_RETRY_EXC_ERR;
    }

    static Stream<Arguments> capabilities() {
        return TRIALS.keySet().stream().map(bits -> Arguments.of(DeviceCapabilityFlags.toString(bits), bits));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("capabilities")
    void flagIsSetIfAndOnlyIfItsFeatureWorks(String name, long bits) throws Exception {
        assumeTrue((bits & fixture.wrongCapabilityFlags()) == 0, "the device's flag is wrong");
        End e = end(EndOptions.defaults());
        assertThat((e.device.capabilityFlags() & bits) != 0).as(name).isEqualTo(TRIALS.get(bits).works(this, e));
    }

    @Test
    void untestableFlagsHaveTheirPrerequisites() throws Exception {
        End e = end(EndOptions.defaults());
        for (Map.Entry<Long, Trial> n : NEEDS.entrySet()) {
            if ((e.device.capabilityFlags() & ~fixture.wrongCapabilityFlags() & n.getKey()) != 0) {
                assertThat(n.getValue().works(this, e)).as(DeviceCapabilityFlags.toString(n.getKey())).isTrue();
            }
        }
    }

    /** Prevents that a flag is added or set that the suite does not know. */
    @Test
    void everyFlagIsTested() throws Exception {
        long all = 0;
        for (Field f : DeviceCapabilityFlags.class.getFields()) {
            all |= f.getLong(null);
        }
        long tried = Stream.concat(TRIALS.keySet().stream(), NEEDS.keySet().stream()).reduce(0L, (a, b) -> a | b);
        assertThat(DeviceCapabilityFlags.toString(tried)).isEqualTo(DeviceCapabilityFlags.toString(all));
        assertThat(DeviceCapabilityFlags.toString(open().queryDevice().capabilityFlags() & ~all)).isEqualTo("0");
    }

    // ---- on demand

    private static final int ACCESS = AccessFlags.ALL | AccessFlags.FLUSH_GLOBAL;

    /** Does one operation on memory that is paged on demand; false if the transport has no such operation. */
    @FunctionalInterface
    private interface OnDemand {
        boolean works(CapabilityConformance t, int type) throws Exception;
    }

    private static final Map<Integer, OnDemand> ON_DEMAND = Map.of(
            OdpCapabilities.SEND, (t, type) -> t.sends(type, true, false, false),
            OdpCapabilities.RECEIVE, (t, type) -> t.sends(type, false, true, false),
            OdpCapabilities.SRQ_RECEIVE, (t, type) -> t.sends(type, false, true, true),
            OdpCapabilities.WRITE, (t, type) -> t.does(type, p -> p.near.post(Op.write(1, p.farAddress, 0).on(0, 8))),
            OdpCapabilities.READ, (t, type) -> t.does(type, p -> p.near.post(Op.read(1, p.farAddress, 0).on(0, 8))),
            OdpCapabilities.ATOMIC,
            (t, type) -> t.does(type, p -> p.near.post(Op.fetchAndAdd(1, p.farAddress, 0, 1).on(0, 8))),
            OdpCapabilities.FLUSH, (t, type) -> t.does(type, p -> p.near.name(p.near.qp, p.near.qp.sendQueue().start()
                    .flush(1, SendFlags.SIGNALED, p.farAddress.rkey(), p.farAddress.address(), 8, FlushType.GLOBAL,
                            FlushType.RANGE)).complete()),
            OdpCapabilities.ATOMIC_WRITE, (t, type) -> t.does(type, p -> p.near.name(p.near.qp, p.near.qp.sendQueue()
                    .start()
                    .atomicWrite(1, SendFlags.SIGNALED, p.farAddress.rkey(), p.farAddress.address(), 1)).complete()));

    /** Posts one request at the near end; 0 or an errno. */
    @FunctionalInterface
    private interface Post {
        int post(Pair p) throws VerbsException;
    }

    private static EndOptions of(int type, boolean onDemand) {
        return EndOptions.defaults().type(type).access(onDemand ? ACCESS | AccessFlags.ON_DEMAND : ACCESS)
                .queuePairAccess(ACCESS);
    }

    private boolean sends(int type, boolean from, boolean to, boolean shared) throws Exception {
        EndOptions far = of(type, to);
        Pair p;
        try {
            p = connected(of(type, from), shared ? far.sharedReceives() : far);
        } catch (VerbsException e) {
            assertThat(Errno.name(e.errno())).as(e.getMessage()).isEqualTo("EOPNOTSUPP");
            return false;
        }
        int answer = to && !shared
                ? p.far.run(end -> end.qp.receiveQueue().post(1, end.region, 0, 100)) // its own: XRC has none
                : p.far.run(end -> end.postReceives(Op.receive(1).on(0, 100)));
        if (answer != 0) {
            assertThat(Errno.name(answer)).isEqualTo("EINVAL");
            return false;
        }
        sent(p, Op.send(1).on(0, 8));
        return p.far.awaitReceive().status() == WcStatus.SUCCESS;
    }

    private boolean does(int type, Post request) throws Exception {
        Pair p = connected(of(type, true), of(type, true));
        int answer = request.post(p);
        if (answer != 0) {
            assertThat(answer).isIn(Errno.EINVAL, Errno.EOPNOTSUPP);
            return false;
        }
        return p.near.awaitSend().status() == WcStatus.SUCCESS;
    }

    static Stream<Arguments> transports() {
        return Stream.of(Arguments.of(QueuePairType.RC, Feature.RC), Arguments.of(QueuePairType.UC, Feature.UC),
                Arguments.of(QueuePairType.UD, Feature.UD), Arguments.of(QueuePairType.XRC_SEND, Feature.XRC));
    }

    @ParameterizedTest
    @MethodSource("transports")
    void transportSupportsTheOnDemandOperationsItReports(int type, String feature) throws Exception {
        DeviceAttributes d = open().queryDevice();
        OdpCapabilities odp = d.odpCapabilities();
        needs(open(), feature);
        boolean any = odp != null && (odp.general() & OdpCapabilities.SUPPORT) != 0;
        assertThat(any).isEqualTo(open().supports(Feature.ON_DEMAND));
        if (odp == null || !any) {
            return;
        }
        int said = switch (type) {
            case QueuePairType.RC -> odp.rc();
            case QueuePairType.UC -> odp.uc();
            case QueuePairType.UD -> odp.ud();
            default -> odp.xrc();
        };
        int works = 0;
        for (Map.Entry<Integer, OnDemand> o : ON_DEMAND.entrySet()) {
            works |= o.getValue().works(this, type) ? o.getKey() : 0;
        }
        assertThat(odp.toString() + ": " + Integer.toHexString(said)).endsWith(": " + Integer.toHexString(works));
        boolean implicit = (odp.general() & OdpCapabilities.SUPPORT_IMPLICIT) != 0;
        assertThat(implicit).isEqualTo(open().supports(Feature.ON_DEMAND_IMPLICIT));
    }
}
