// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.Gid;

/** Messages against the tables of the specification, and against garbage. */
class CmCodecTest {
    private final Random random = new Random(12);

    /** A field in the notation of the tables: byte of the body, bit in it from the highest, width. */
    private static long field(byte[] mad, int at, int bit, int width) {
        long value = 0;
        for (int i = 0; i < width; i++) {
            int n = (CmCodec.BODY + at) * 8 + bit + i;
            value = value << 1 | mad[n / 8] >>> 7 - n % 8 & 1;
        }
        return value;
    }

    private int number(int bits) {
        return bits == 32 ? random.nextInt() : random.nextInt(1 << bits);
    }

    private PrivateData data(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return PrivateData.of(bytes);
    }

    private Gid gid() {
        return new Gid(random.nextLong(), random.nextLong());
    }

    private CmMessage.Req request() {
        return new CmMessage.Req(random.nextLong(), number(32), random.nextLong(), random.nextLong(), number(32),
                number(24),
                number(8), number(8), number(5), number(5), number(4), number(2), number(3), number(24), number(3),
                number(3), random.nextBoolean(), number(16), number(4), new CmMessage.Route(gid(), gid(), number(20),
                        number(6), number(8), number(8), number(5)), data(92));
    }

    private CmMessage.Rep reply() {
        return new CmMessage.Rep(random.nextLong(), number(32), number(32), number(32), number(24), number(24),
                number(8), number(
                        8), number(5), number(3), random.nextBoolean(), random.nextLong(), data(196));
    }

    private CmMessage any(int kind) {
        long t = random.nextLong();
        int local = number(32);
        int remote = number(32);
        return switch (kind) {
            case 0 -> request();
            case 1 -> reply();
            case 2 -> new CmMessage.Rtu(t, local, remote, data(224));
            case 3 -> new CmMessage.Rej(t, local, remote, number(2), number(16), data(random.nextInt(73)), data(
                    148));
            case 4 -> new CmMessage.Mra(t, local, remote, number(2), number(5), data(222));
            case 5 -> new CmMessage.Dreq(t, local, remote, number(24), data(220));
            case 6 -> new CmMessage.Drep(t, local, remote, data(224));
            case 7 -> new CmMessage.SidrReq(t, local, number(16), random.nextLong(), data(216));
            default -> new CmMessage.SidrRep(t, local, number(8), number(24), random.nextLong(), number(32), data(136));
        };
    }

    @Test
    void encodedMessagesDecodeEqual() {
        for (int i = 0; i < 20_000; i++) {
            CmMessage message = any(i % 9);
            byte[] mad = CmCodec.encode(message);
            assertThat(mad).hasSize(256);
            assertThat(CmCodec.decode(mad)).isEqualTo(message);
        }
    }

    @Test
    void madHeaderFields() {
        for (int kind = 0; kind < 9; kind++) {
            CmMessage message = any(kind);
            byte[] mad = CmCodec.encode(message);
            assertThat(Arrays.copyOf(mad, 8)).as("version 1, class 7 of version 2, Send, no status").containsExactly(1,
                    7, 2, 3, 0, 0, 0, 0);
            assertThat(field(mad, -16, 0, 64)).isEqualTo(message.transaction());
            assertThat(field(mad, -8, 0, 16)).isEqualTo(new int[] {0x10, 0x13, 0x14, 0x12, 0x11, 0x15, 0x16, 0x17,
                0x18}[kind]);
            assertThat(field(mad, -6, 0, 48)).isZero();
        }
    }

    @Test
    void reqMatchesTable99() {
        for (int i = 0; i < 100; i++) {
            CmMessage.Req m = request();
            CmMessage.Route r = m.route();
            byte[] mad = CmCodec.encode(m);
            assertThat(field(mad, 0, 0, 32)).isEqualTo(m.localId() & 0xFFFF_FFFFL);
            assertThat(field(mad, 8, 0, 64)).isEqualTo(m.serviceId());
            assertThat(field(mad, 16, 0, 64)).isEqualTo(m.caGuid());
            assertThat(field(mad, 28, 0, 32)).isEqualTo(m.qkey() & 0xFFFF_FFFFL);
            assertThat(field(mad, 32, 0, 24)).isEqualTo(m.queuePair());
            assertThat(field(mad, 35, 0, 8)).isEqualTo(m.responderResources());
            assertThat(field(mad, 39, 0, 8)).isEqualTo(m.initiatorDepth());
            assertThat(field(mad, 43, 0, 5)).isEqualTo(m.remoteTimeout());
            assertThat(field(mad, 43, 5, 2)).isEqualTo(m.transport());
            assertThat(field(mad, 44, 0, 24)).isEqualTo(m.startingPsn());
            assertThat(field(mad, 47, 0, 5)).isEqualTo(m.localTimeout());
            assertThat(field(mad, 47, 5, 3)).isEqualTo(m.retryCount());
            assertThat(field(mad, 48, 0, 16)).isEqualTo(m.pkey());
            assertThat(field(mad, 50, 0, 4)).isEqualTo(m.pathMtu());
            assertThat(field(mad, 50, 5, 3)).isEqualTo(m.rnrRetry());
            assertThat(field(mad, 51, 0, 4)).isEqualTo(m.maxRetries());
            assertThat(field(mad, 51, 4, 1)).isEqualTo(m.srq() ? 1 : 0);
            assertThat(field(mad, 51, 5, 3)).isEqualTo(m.extendedTransport());
            assertThat(field(mad, 52, 0, 32)).as("both LIDs are permissive").isEqualTo(0xFFFF_FFFFL);
            assertThat(field(mad, 56, 0, 64)).isEqualTo(r.local().high());
            assertThat(field(mad, 64, 0, 64)).isEqualTo(r.local().low());
            assertThat(field(mad, 72, 0, 64)).isEqualTo(r.remote().high());
            assertThat(field(mad, 80, 0, 64)).isEqualTo(r.remote().low());
            assertThat(field(mad, 88, 0, 20)).isEqualTo(r.flowLabel());
            assertThat(field(mad, 91, 2, 6)).isEqualTo(r.rate());
            assertThat(field(mad, 92, 0, 8)).isEqualTo(r.trafficClass());
            assertThat(field(mad, 93, 0, 8)).isEqualTo(r.hopLimit());
            assertThat(field(mad, 94, 4, 1)).as("subnet local").isEqualTo(r.hopLimit() > 1 ? 0 : 1);
            assertThat(field(mad, 95, 0, 5)).isEqualTo(r.ackTimeout());
            assertThat(Arrays.copyOfRange(mad, 24 + 96, 24 + 140)).as("no alternate path").containsOnly(0);
            assertThat(Arrays.copyOfRange(mad, 24 + 140, 256)).isEqualTo(m.data().bytes());
        }
    }

    @Test
    void otherMessagesMatchTheirTables() {
        CmMessage.Rep p = reply();
        byte[] mad = CmCodec.encode(p);
        assertThat(field(mad, 4, 0, 32)).isEqualTo(p.remoteId() & 0xFFFF_FFFFL);
        assertThat(field(mad, 8, 0, 32)).isEqualTo(p.qkey() & 0xFFFF_FFFFL);
        assertThat(field(mad, 12, 0, 24)).isEqualTo(p.queuePair());
        assertThat(field(mad, 20, 0, 24)).isEqualTo(p.startingPsn());
        assertThat(field(mad, 24, 0, 8)).isEqualTo(p.responderResources());
        assertThat(field(mad, 25, 0, 8)).isEqualTo(p.initiatorDepth());
        assertThat(field(mad, 26, 0, 5)).isEqualTo(p.ackDelay());
        assertThat(field(mad, 27, 0, 3)).isEqualTo(p.rnrRetry());
        assertThat(field(mad, 27, 3, 1)).isEqualTo(p.srq() ? 1 : 0);
        assertThat(field(mad, 28, 0, 64)).isEqualTo(p.caGuid());
        assertThat(Arrays.copyOfRange(mad, 24 + 36, 256)).isEqualTo(p.data().bytes());

        mad = CmCodec.encode(new CmMessage.Rej(1, 2, 3, 1, 28, PrivateData.of((byte) 9, (byte) 8), data(148)));
        assertThat(field(mad, 8, 0, 2)).isEqualTo(1);
        assertThat(field(mad, 9, 0, 7)).isEqualTo(2);
        assertThat(field(mad, 10, 0, 16)).isEqualTo(28);
        assertThat(field(mad, 12, 0, 16)).isEqualTo(0x0908);
        mad = CmCodec.encode(new CmMessage.Mra(1, 2, 3, 1, 20, PrivateData.NONE));
        assertThat(field(mad, 8, 0, 2)).isEqualTo(1);
        assertThat(field(mad, 9, 0, 5)).isEqualTo(20);
        mad = CmCodec.encode(new CmMessage.Dreq(1, 2, 3, 0xABCDEF, PrivateData.NONE));
        assertThat(field(mad, 8, 0, 24)).isEqualTo(0xABCDEF);
        mad = CmCodec.encode(new CmMessage.SidrReq(1, 2, 0xFFFF, 77, PrivateData.NONE));
        assertThat(field(mad, 4, 0, 16)).isEqualTo(0xFFFF);
        assertThat(field(mad, 8, 0, 64)).isEqualTo(77);
        mad = CmCodec.encode(new CmMessage.SidrRep(1, 2, 3, 0x123456, 77, 0x01234567, PrivateData.NONE));
        assertThat(field(mad, 4, 0, 8)).isEqualTo(3);
        assertThat(field(mad, 8, 0, 24)).isEqualTo(0x123456);
        assertThat(field(mad, 12, 0, 64)).isEqualTo(77);
        assertThat(field(mad, 20, 0, 32)).isEqualTo(0x01234567);
    }

    @Test
    void randomBytesDecodeOrAreRejected() {
        int messages = 0;
        for (int i = 0; i < 50_000; i++) {
            byte[] mad = i % 2 == 0 ? new byte[random.nextInt(300)] : CmCodec.encode(any(i % 9));
            if (i % 2 == 0) {
                random.nextBytes(mad);
            } else {
                for (int n = random.nextInt(5); n >= 0; n--) {
                    mad[random.nextInt(mad.length)] = (byte) random.nextInt();
                }
            }
            CmMessage message = CmCodec.decode(mad);
            if (message != null) {
                messages++;
                assertThat(CmCodec.decode(CmCodec.encode(message))).isEqualTo(message);
            }
        }
        assertThat(messages).isGreaterThan(10_000);
        byte[] mad = CmCodec.encode(any(0));
        mad[2] = 1; // another version of the class
        assertThat(CmCodec.decode(mad)).isNull();
        assertThatThrownBy(() -> CmCodec.encode(new CmMessage.Rtu(1, 2, 3, data(225)))).isInstanceOf(
                IllegalArgumentException.class).hasMessageContaining("224");
    }

    @Test
    void librdmacmHeaders() throws Exception {
        assertThat(RdmaCmHeader.service(7174)).as("rping").isEqualTo(0x0000000001061C06L);
        assertThat(RdmaCmHeader.datagramService(7174)).isEqualTo(0x0000000001111C06L);
        RdmaCmHeader four = new RdmaCmHeader(0x1234, InetAddress.getByName("10.1.2.3"), InetAddress.getByName(
                "10.4.5.6"));
        byte[] bytes = four.with(new byte[] {7, 8}).bytes();
        assertThat(bytes).hasSize(38).startsWith(0, 0x40, 0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 1, 2, 3,
                0,
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 4, 5, 6, 7, 8);
        assertThat(RdmaCmHeader.of(PrivateData.of(bytes))).isEqualTo(four);
        RdmaCmHeader six = new RdmaCmHeader(1, InetAddress.getByName("fd00::1"), InetAddress.getByName("fd00::2"));
        assertThat(six.with(new byte[56]).length()).isEqualTo(92);
        assertThat(RdmaCmHeader.of(six.with(new byte[0]))).isEqualTo(six);
        for (int version = 0; version < 256; version++) {
            bytes[1] = (byte) version;
            assertThat(RdmaCmHeader.of(PrivateData.of(bytes)) != null).isEqualTo(version >>> 4 == 4
                    || version >>> 4 == 6);
        }
        assertThat(RdmaCmHeader.of(data(35))).isNull();
    }
}
