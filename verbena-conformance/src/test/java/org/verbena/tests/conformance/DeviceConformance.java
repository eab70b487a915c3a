// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AtomicCapability;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.DeviceCapabilityFlags;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.GidType;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.Values;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/** Devices, contexts, ports, GIDs and values. */
abstract class DeviceConformance extends Conformance {
    DeviceConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    @Test
    void deviceIsListedOnce() throws Exception {
        Device d = open().device();
        assertThat(Verbs.devices()).extracting(Device::name).containsOnlyOnce(d.name());
        assertThat(d.provider()).isNotBlank();
        assertThat(d.transport()).isNotBlank();
        assertThat(d).hasToString(d.name());
    }

    @Test
    void deviceIsOpenedByName() throws Exception {
        String name = open().device().name();
        try (Context c = Verbs.open(name)) {
            assertThat(c.device().name()).isEqualTo(name);
            assertThat(c.describe()).contains(name);
        }
    }

    @Test
    void unknownDeviceIsRefusedWithNamesOfTheOthers() throws Exception {
        String name = open().device().name();
        assertErrno(Errno.ENODEV, () -> Verbs.open("no-such-device"), "no-such-device", name);
    }

    @Test
    void contextsAreIndependent() throws Exception {
        List<Context> contexts = List.of(open(), open(), open());
        contexts.getFirst().close();
        for (Context c : contexts.subList(1, 3)) {
            assertThat(c.isClosed()).isFalse();
            c.allocateProtectionDomain().close();
        }
    }

    @Test
    void deviceAttributesAreUsable() throws Exception {
        Context c = open();
        DeviceAttributes a = c.queryDevice();
        assertThat(a.firmwareVersion()).isNotBlank();
        assertThat(a.nodeGuid()).isEqualTo(c.device().guid()).isNotZero();
        assertThat(a.maxMrSize()).isGreaterThanOrEqualTo(1L << 20);
        assertThat(a.pageSizeCap() & 4096).as("pages of 4 KiB").isNotZero();
        assertThat(a.maxQp()).isGreaterThanOrEqualTo(16);
        assertThat(a.maxQpWr()).isGreaterThanOrEqualTo(128);
        assertThat(a.maxSge()).isGreaterThanOrEqualTo(2);
        assertThat(a.maxInlineData()).isNotNegative();
        assertThat(a.maxCq()).isGreaterThanOrEqualTo(2);
        assertThat(a.maxCqe()).isGreaterThanOrEqualTo(128);
        assertThat(a.maxMr()).isGreaterThanOrEqualTo(16);
        assertThat(a.maxPd()).isGreaterThanOrEqualTo(2);
        assertThat(a.maxQpRdAtom()).isPositive();
        assertThat(a.maxQpInitRdAtom()).isPositive();
        assertThat(a.atomicCapability())
                .isIn(AtomicCapability.NONE, AtomicCapability.HCA, AtomicCapability.GLOB);
        assertThat(a.physicalPortCount()).isPositive();
    }

    @Test
    void deviceAttributesAreConstant() throws Exception {
        Context c = open();
        assertThat(c.queryDevice()).usingRecursiveComparison().isEqualTo(open().queryDevice());
        assertThat(c.queryDevice()).usingRecursiveComparison().isEqualTo(c.queryDevice());
        assertThat(c.queryPort(1)).isEqualTo(open().queryPort(1)).hasSameHashCodeAs(c.queryPort(1));
    }

    @Test
    void everyPortIsActive() throws Exception {
        Context c = open();
        for (int port = 1; port <= c.queryDevice().physicalPortCount(); port++) {
            PortAttributes p = c.queryPort(port);
            assertThat(p.stateName()).isEqualTo("PORT_ACTIVE");
            assertThat(p.activeMtu()).isIn(256, 512, 1024, 2048, 4096);
            assertThat(p.maxMtu()).isIn(256, 512, 1024, 2048, 4096).isGreaterThanOrEqualTo(p.activeMtu());
            assertThat(p.gidTableLength()).isPositive();
            assertThat(p.pkeyTableLength()).isPositive();
            assertThat(p.maxMessageSize()).isGreaterThanOrEqualTo(1L << 20);
            assertThat(p.linkLayer()).isNotBlank();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 256, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void missingPortIsRefused(int port) throws Exception {
        Context c = open();
        assertErrno(Errno.EINVAL, () -> c.queryPort(port), Integer.toString(port));
        assertErrno(Errno.EINVAL, () -> c.queryGid(port, 0), "port");
    }

    @Test
    void portAfterTheLastIsRefused() throws Exception {
        Context c = open();
        int port = c.queryDevice().physicalPortCount() + 1;
        assertErrno(Errno.EINVAL, () -> c.queryPort(port), Integer.toString(port));
    }

    @Test
    void firstGidIdentifiesThePort() throws Exception {
        Context c = open();
        Gid g = c.queryGid(1, 0);
        assertThat(g).isNotEqualTo(new Gid(0, 0)).isEqualTo(c.queryGid(1, 0));
        assertThat(Gid.parse(g.toString())).isEqualTo(g);
    }

    @Test
    void gidIndexBeyondTheTableIsRefused() throws Exception {
        Context c = open();
        int length = c.queryPort(1).gidTableLength();
        assertErrno(Errno.EINVAL, () -> c.queryGid(1, length), Integer.toString(length));
        assertErrno(Errno.EINVAL, () -> c.queryGid(1, -1), "-1");
        assertErrno(Errno.EINVAL, () -> c.queryGid(1, Integer.MAX_VALUE));
    }

    @Test
    void gidTableHasAllGids() throws Exception {
        Context c = open();
        List<GidEntry> table = c.queryGidTable();
        assertThat(table).isNotEmpty();
        for (GidEntry e : table) {
            assertThat(e.gid()).isEqualTo(c.queryGid(e.port(), e.index()));
            GidEntry same = c.queryGidEntry(e.port(), e.index());
            assertThat(same.gid()).isEqualTo(e.gid());
            assertThat(same.type()).isEqualTo(e.type());
            assertThat(same.interfaceIndex()).isEqualTo(e.interfaceIndex());
            assertThat(e.toString()).contains(e.gid().toString(), GidType.toString(e.type()));
        }
        int length = c.queryPort(1).gidTableLength();
        for (int wrong : new int[] {length, -1, Integer.MAX_VALUE}) {
            assertErrno(Errno.EINVAL, () -> c.queryGidEntry(1, wrong));
        }
        assertErrno(Errno.EINVAL, () -> c.queryGidEntry(0, 0));
    }

    @Test
    void partitionKeyIsFoundByIndex() throws Exception {
        Context c = open();
        int length = c.queryPort(1).pkeyTableLength();
        assertThat(length).isPositive();
        for (int i = 0; i < length; i++) {
            int key = c.queryPkey(1, i);
            assertThat(key).isBetween(0, 0xffff);
            assertThat(c.queryPkey(1, c.pkeyIndex(1, key))).isEqualTo(key);
        }
        for (int wrong : new int[] {length, -1, Integer.MAX_VALUE}) {
            assertErrno(Errno.EINVAL, () -> c.queryPkey(1, wrong));
        }
        assertErrno(Errno.EINVAL, () -> c.queryPkey(2, 0));
        assertErrno(Errno.EINVAL, () -> c.pkeyIndex(0, 0xffff));
        assertErrno(Errno.ENOENT, () -> c.pkeyIndex(1, 0x1234));
    }

    @Test
    void featuresAgreeWithTheAttributes() throws Exception {
        Context c = open();
        DeviceAttributes a = c.queryDevice();
        assertThat(c.supports(Feature.RC)).isTrue();
        assertThat(c.supports(Feature.ATOMICS)).isEqualTo(a.atomicCapability() != AtomicCapability.NONE);
        assertThat(c.supports(Feature.COMPLETION_TIMESTAMP)).isEqualTo(a.completionTimestampMask().isPresent());
        assertThat(c.supports(Feature.XRC)).isEqualTo((a.capabilityFlags() & DeviceCapabilityFlags.XRC) != 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no.such.feature", "QP.RC", "qp.rc ", "\0"})
    void unknownFeatureIsNotSupported(String feature) throws Exception {
        assertThat(open().supports(feature)).isFalse();
    }

    @Test
    void clockTicksAtItsFrequency() throws Exception {
        Context c = open();
        needs(c, Feature.QUERY_VALUES);
        long kilohertz = c.queryDevice().coreClockKilohertz().orElseThrow();
        long before = System.nanoTime();
        long ticks = c.queryValues(Values.RAW_CLOCK).rawClock().orElseThrow();
        long after = System.nanoTime();
        Await.until("50 ms", () -> System.nanoTime() - after > 50_000_000, () -> "the clock of Java stands");
        long least = System.nanoTime() - after;
        long passedTicks = c.queryValues(Values.RAW_CLOCK).rawClock().orElseThrow() - ticks;
        long most = System.nanoTime() - before;
        assertThat(passedTicks * 1e6 / kilohertz).isBetween(least * 0.9 - 2e6, most * 1.1 + 2e6);
    }

    @Test
    void clockIsMonotonic() throws Exception {
        Context c = open();
        needs(c, Feature.QUERY_VALUES);
        long last = Long.MIN_VALUE;
        for (int i = 0; i < 10_000; i++) {
            long now = c.queryValues(Values.RAW_CLOCK).rawClock().orElseThrow();
            assertThat(now).isGreaterThanOrEqualTo(last);
            last = now;
        }
    }

    @Test
    void valuesNotRequestedAreAbsent() throws Exception {
        Context c = open();
        needs(c, Feature.QUERY_VALUES);
        assertThat(c.queryValues(0).rawClock()).isEmpty();
    }

    @Test
    void unknownValuesAreNotSupported() throws Exception {
        Context c = open();
        assertErrno(Errno.EOPNOTSUPP, () -> c.queryValues(1 << 30));
        assertErrno(Errno.EOPNOTSUPP, () -> c.queryValues(Values.RAW_CLOCK | 1 << 30));
    }

    @Test
    void closingAContextClosesItsObjects() throws Exception {
        Context c = open();
        End e = End.on(fixture, c, EndOptions.defaults().channel());
        VerbsObject pd2 = c.allocateProtectionDomain();
        c.close();
        assertThat(List.of(c, e.pd, e.region, e.sendCq, e.receiveCq, e.qp, pd2)).allMatch(VerbsObject::isClosed);
        assertThat(e.channel).isNotNull().matches(VerbsObject::isClosed);
        c.close();
    }

    /** Objects that the program has dropped do not keep the context open. */
    @Test
    void closingAContextClosesDroppedObjects() throws Exception {
        Context c = open();
        List<WeakReference<VerbsObject>> dropped = dropSome(c);
        Await.within(Await.WHILE, () -> {
            System.gc();
            return dropped.stream().allMatch(r -> r.get() == null); // a provider may also keep them
        });
        c.close();
        assertThat(c.isClosed()).isTrue();
    }

    private static List<WeakReference<VerbsObject>> dropSome(Context c) throws VerbsException {
        ProtectionDomain pd = c.allocateProtectionDomain();
        return List.of(new WeakReference<>(pd), new WeakReference<>(pd.allocate(4096, AccessFlags.ALL)),
                new WeakReference<>(c.createCompletionQueue(4)), new WeakReference<>(c.createCompletionChannel()));
    }

    @Test
    void closedContextRefusesEverything() throws Exception {
        Context c = open();
        c.close();
        assertErrno(Errno.EINVAL, c::allocateProtectionDomain, "closed");
        assertErrno(Errno.EINVAL, c::createCompletionChannel, "closed");
        assertErrno(Errno.EINVAL, () -> c.createCompletionQueue(1), "closed");
        assertErrno(Errno.EINVAL, () -> c.awaitAsyncEvent(Await.WHILE), "closed");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void completionQueueOfAnInvalidSizeIsRefused(int cqe) throws Exception {
        Context c = open();
        assertErrno(Errno.EINVAL, () -> c.createCompletionQueue(cqe), "cqe", Integer.toString(cqe));
    }

    @Test
    void completionQueueHasAtLeastTheRequestedEntries() throws Exception {
        Context c = open();
        int max = c.queryDevice().maxCqe();
        for (int cqe : new int[] {1, 2, 7, 100, max}) {
            try (CompletionQueue q = c.createCompletionQueue(cqe)) {
                assertThat(q.cqe()).isGreaterThanOrEqualTo(cqe);
                assertThat(q.context()).isSameAs(c);
                assertThat(q.channel()).isNull();
                assertThat(q.startPoll()).isEqualTo(Errno.ENOENT);
            }
        }
        assertErrno(Errno.EINVAL, () -> c.createCompletionQueue(max + 1), "cqe");
    }
}
