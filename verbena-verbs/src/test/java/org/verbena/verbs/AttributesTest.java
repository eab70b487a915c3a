// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.spi.ApiRange;

/** What goes in remembers what was set, what comes out says what was known, and unknown numbers print. */
class AttributesTest {
    private static final Gid GID = Gid.parse("fe80::1");

    /** An object to tell of. */
    private static final class Element extends VerbsObject {
        Element() throws VerbsException {
            super(List.of());
        }

        @Override
        public String describe() {
            return "element";
        }

        @Override
        protected void implClose() {}
    }

    @Test
    void gidTextRoundTrips() {
        for (Gid g : List.of(GID, new Gid(0, 0xffff_ef01_0207L), new Gid(0, 0xffff_0a00_00c8L), new Gid(0, 1),
                new Gid(0, 0xffff_0007L), new Gid(0xff12L << 48, -1))) {
            assertThat(Gid.parse(g.toString())).as(g.toString()).isEqualTo(g);
        }
        assertThat(Gid.parse("::ffff:239.1.2.7")).isEqualTo(new Gid(0, 0xffff_ef01_0207L));
        assertThatThrownBy(() -> Gid.parse("10.0.0.1")).hasMessage("not a GID: '10.0.0.1'");
        assertThatThrownBy(() -> Gid.parse("1::2::3")).hasMessage("not a GID: '1::2::3'");
    }

    @Test
    void attributesPrintTheirValues() {
        assertThat(DeviceAttributes.builder().maxQp(8, 64).maxSge(4).maxMrSize(1 << 20).build()).hasToString(
                "DeviceAttributes[maxMrSize=1048576, maxQp=8, maxQpWr=64, maxSge=4, physicalPortCount=1]");
        assertThat(ConnectionParameters.builder().privateData(new byte[7]).retryCount(3).timeout(Duration.ofSeconds(2))
                .accessFlags(AccessFlags.REMOTE_READ).build()).hasToString("ConnectionParameters[privateData=7 bytes, "
                        + "responderResources=16, initiatorDepth=16, retryCount=3, rnrRetry=7, accessFlags=REMOTE_READ, "
                        + "timeout=PT2S]");
        assertThat(MemoryRegionAttributes.builder(AccessFlags.LOCAL_WRITE).build()).hasToString(
                "MemoryRegionAttributes[access=LOCAL_WRITE]");
    }

    /** Objects that an application meets; those of a provider say what they are by {@code describe()}. */
    @Test
    void everyValueOfTheApiHasAText() throws Exception {
        Path classes = Path.of(Verbs.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<String> without = new ArrayList<>();
        try (Stream<Path> files = Files.list(classes.resolve("org/verbena/verbs"))) {
            for (Path f : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                Class<?> c = Class.forName("org.verbena.verbs." + f.getFileName().toString().replace(".class", ""));
                boolean isValue = Modifier.isPublic(c.getModifiers()) && !Modifier.isAbstract(c.getModifiers())
                        && !c.getSimpleName().equals("Builder")
                        && Stream.of(c.getDeclaredMethods()).anyMatch(m -> !Modifier.isStatic(m.getModifiers())
                                && Modifier.isPublic(m.getModifiers()));
                if (isValue && c.getMethod("toString").getDeclaringClass() == Object.class) {
                    without.add(c.getName());
                }
            }
        }
        assertThat(without).isEmpty();
    }

    @Test
    void maskHasTheBitsOfTheFieldsSet() {
        assertThat(AddressVector.to(GID).compMask()).isZero();
        assertThat(AddressVector.builder(GID).port(1).build().compMask()).isEqualTo(AddressVector.PORT);
        AddressVector all = AddressVector.builder(GID).sourceGidIndex(1).hopLimit(2).trafficClass(3).flowLabel(4)
                .serviceLevel(5).port(6).staticRate(7).sourcePathBits(8).destinationLid(9).build();
        assertThat(all.compMask()).isEqualTo(AddressVector.BASIC);
        assertThat(all.toBuilder().build()).isEqualTo(all).hasSameHashCodeAs(all);
        assertThat(all.toBuilder().build().compMask()).isEqualTo(all.compMask());
        assertThat(List.of(all.sourceGidIndex(), all.hopLimit(), all.trafficClass(), all.flowLabel(),
                all.serviceLevel(), all.port(), all.staticRate(), all.sourcePathBits(), all.destinationLid()))
                .containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9);

        assertThat(ConnectionParameters.defaults().compMask()).isZero();
        assertThat(ConnectionParameters.builder().privateData().responderResources(1).initiatorDepth(1).retryCount(1)
                .rnrRetry(1).accessFlags(1).timeout(Duration.ZERO).build().compMask())
                .isEqualTo(ConnectionParameters.BASIC);
        assertThat(CompletionQueueAttributes.builder().cqe(7).build().compMask()).isZero();
        assertThat(QueuePairAttributes.builder().alternatePath(AddressVector.to(GID), 0, 1)
                .pathMigrationState(PathMigrationState.ARMED).capabilities(QueuePairCapabilities.builder().build())
                .rateLimit(1).build().mask())
                .isEqualTo(QueuePairAttributes.ALT_PATH | QueuePairAttributes.PATH_MIG_STATE
                        | QueuePairAttributes.CAP | QueuePairAttributes.RATE_LIMIT);
    }

    @Test
    void topBitIsNotAField() {
        for (int known : new int[] {AddressVector.BASIC, ConnectionParameters.BASIC, QueuePairAttributes.BASIC,
            CompletionQueueAttributes.BASIC_FIELDS}) {
            assertThat(known & CompMask.SECOND_WORD).isZero();
        }
    }

    @Test
    void unknownBitsAreRefusedByName() throws Exception {
        CompMask.check("connect", AddressVector.PORT, AddressVector.BASIC, AddressVector::names, "p0");
        assertThatThrownBy(() -> CompMask.check("connect", AddressVector.PORT | AddressVector.STATIC_RATE,
                AddressVector.PORT, AddressVector::names, "p0")).isInstanceOfSatisfying(VerbsException.class,
                        e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
                .hasMessage("connect: EOPNOTSUPP: STATIC_RATE is not known to p0");
        assertThatThrownBy(() -> CompMask.check("connect", CompMask.SECOND_WORD, -1 >>> 1, AddressVector::names, "p0"))
                .hasMessageContaining("0x80000000");
    }

    @Test
    void laterAttributesReplaceEarlierOnes() {
        AddressVector other = AddressVector.builder(GID).hopLimit(1).build();
        QueuePairCapabilities cap = QueuePairCapabilities.builder().maxSendWr(1).maxReceiveWr(2).maxSendSge(3)
                .maxReceiveSge(4).maxInlineData(5).build();
        QueuePairAttributes a = QueuePairAttributes.builder().alternatePath(AddressVector.to(GID), 1, 2)
                .pathMigrationState(PathMigrationState.REARM).rateLimit(9).build();
        QueuePairAttributes b = a.with(QueuePairAttributes.builder().alternatePath(other, 3, 4)
                .pathMigrationState(PathMigrationState.ARMED).capabilities(cap).build());
        assertThat(b.alternateAddressVector()).isEqualTo(other);
        assertThat(b.alternatePkeyIndex()).isEqualTo(3);
        assertThat(b.alternateTimeout()).isEqualTo(4);
        assertThat(b.pathMigrationState()).isEqualTo(PathMigrationState.ARMED);
        assertThat(b.capabilities()).isEqualTo(cap).isEqualTo(QueuePairCapabilities.builder().maxSendWr(1)
                .maxReceiveWr(2).maxSendSge(3).maxReceiveSge(4).maxInlineData(5).build());
        assertThat(b.rateLimit()).isEqualTo(9);
    }

    @Test
    void attributesNotReportedReadAsAbsent() {
        PortAttributes p = PortAttributes.builder().build();
        assertThat(p.state()).isZero();
        assertThat(p.maxMessageSize()).isZero();
        assertThat(p.linkLayer()).isEmpty();
        assertThat(p.lid()).isEmpty();
        assertThat(p.activeSpeed()).isEmpty();
        assertThat(PortAttributes.builder().lid(0).build().lid()).hasValue(0);
        assertThat(p).isEqualTo(PortAttributes.builder().build())
                .isNotEqualTo(PortAttributes.builder().lid(0).build());
        assertThat(Values.builder().build().rawClock()).isEmpty();
        assertThat(Values.builder().rawClock(5).build()).isEqualTo(Values.builder().rawClock(5).build());
        assertThat(DeviceAttributes.builder().build().coreClockKilohertz()).isEmpty();
        assertThat(ConnectionEvent.builder(ConnectionEvent.ESTABLISHED).build().detail()).isEmpty();
    }

    @Test
    void builtAttributesAreIndependentOfTheBuilder() {
        PortAttributes.Builder b = PortAttributes.builder().lid(1);
        PortAttributes p = b.build();
        b.lid(2).state(PortAttributes.STATE_DOWN);
        assertThat(p.lid()).hasValue(1);
        assertThat(p.state()).isZero();
    }

    @Test
    void eventsAreEqualByContentAndUnknownTypesPrintAsNumbers() throws Exception {
        Element e = new Element();
        assertThat(AsyncEvent.builder(1, e).detail("x").build()).isEqualTo(AsyncEvent.builder(1, e).detail("x").build())
                .isNotEqualTo(AsyncEvent.builder(1, e).build()).hasToString("QP_FATAL on element: x");
        assertThat(AsyncEvent.builder(4711, e).build()).hasToString("4711 on element");
        assertThat(ConnectionEvent.builder(4711).detail("x").build()).hasToString("4711: x")
                .isEqualTo(ConnectionEvent.builder(4711).detail("x").build());
        assertThat(PathMigrationState.toString(2)).isEqualTo("ARMED");
        assertThat(PathMigrationState.toString(4711)).isEqualTo("4711");
        assertThat(PortAttributes.builder().state(4711).build().stateName()).isEqualTo("4711");
        assertThat(QueuePairAttributes.names(1 << 31)).isEqualTo("0x80000000");
    }

    @Test
    void onlyFeatureConstantsAreKnown() {
        assertThat(Feature.isKnown(Feature.RC)).isTrue();
        assertThat(Feature.isKnown(Feature.ALLOCATE)).isTrue();
        assertThat(Feature.isKnown("from.the.future")).isFalse();
    }

    @Test
    void apiRangeIncludesBothEnds() {
        assertThat(ApiRange.of(2, 3)).hasToString("2 to 3").isEqualTo(ApiRange.of(2, 3));
        assertThat(ApiRange.from(2)).hasToString("2 and later").isNotEqualTo(ApiRange.of(2, 3));
        assertThat(List.of(1, 2, 3, 4)).filteredOn(ApiRange.of(2, 3)::contains).containsExactly(2, 3);
        assertThat(ApiRange.from(2).contains(1)).isFalse();
        assertThatThrownBy(() -> ApiRange.of(3, 2)).hasMessageContaining("3..2");
        assertThatThrownBy(() -> ApiRange.from(0)).hasMessageContaining("0..");
    }
}
