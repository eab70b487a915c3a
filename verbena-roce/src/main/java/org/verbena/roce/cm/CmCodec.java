// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Gid;

/**
 * Encodes and decodes messages: management datagrams of {@value #BYTES} bytes (IBTA volume 1, 13.4.3 and 12.6; offsets
 * of fields as in the specification's tables, after a header of {@value #BODY} bytes). Numbers are big-endian.
 * Stateless.
 */
public final class CmCodec {
    /** Bytes of a management datagram. */
    public static final int BYTES = 256;

    static final int BODY = 24;
    private static final int CLASS = 0x07;
    private static final int SEND = 0x03;
    /** base version 1, class, class version 2, method: the first four bytes of each message. */
    private static final int HEADER = 1 << 24 | CLASS << 16 | 2 << 8 | SEND;
    private static final int PERMISSIVE_LID = 0xFFFF;

    private static final int REQ = 0x10;
    private static final int MRA = 0x11;
    private static final int REJ = 0x12;
    private static final int REP = 0x13;
    private static final int RTU = 0x14;
    private static final int DREQ = 0x15;
    private static final int DREP = 0x16;
    private static final int SIDR_REQ = 0x17;
    private static final int SIDR_REP = 0x18;

    // offset of private data, in a body of 232 bytes
    private static final int REQ_DATA = 140;
    private static final int MRA_DATA = 10;
    private static final int REJ_INFO = 12;
    private static final int REJ_DATA = 84;
    private static final int REP_DATA = 36;
    private static final int IDS_DATA = 8;
    private static final int DREQ_DATA = 12;
    private static final int SIDR_REQ_DATA = 16;
    private static final int SIDR_REP_DATA = 96;

    private CmCodec() {}

    /**
     * Encodes a message.
     *
     * @throws IllegalArgumentException if its private data are too long
     */
    public static byte[] encode(CmMessage message) {
        byte[] mad = new byte[BYTES];
        ByteBuffer header = ByteBuffer.wrap(mad);
        ByteBuffer b = header.slice(BODY, BYTES - BODY);
        int attribute = switch (message) {
            case CmMessage.Req m -> request(b, m);
            case CmMessage.Rep m -> reply(b, m);
            case CmMessage.Rtu m -> ids(b, m.localId(), m.remoteId(), IDS_DATA, m.data(), RTU);
            case CmMessage.Rej m -> {
                b.put(8, (byte) (m.about() << 6)).put(9, (byte) (m.info().length() << 1));
                b.putShort(10, (short) m.reason()).put(REJ_INFO, m.info().bytes());
                yield ids(b, m.localId(), m.remoteId(), REJ_DATA, m.data(), REJ);
            }
            case CmMessage.Mra m -> {
                b.put(8, (byte) (m.about() << 6)).put(9, (byte) (m.serviceTimeout() << 3));
                yield ids(b, m.localId(), m.remoteId(), MRA_DATA, m.data(), MRA);
            }
            case CmMessage.Dreq m -> {
                b.putInt(8, m.queuePair() << 8);
                yield ids(b, m.localId(), m.remoteId(), DREQ_DATA, m.data(), DREQ);
            }
            case CmMessage.Drep m -> ids(b, m.localId(), m.remoteId(), IDS_DATA, m.data(), DREP);
            case CmMessage.SidrReq m -> {
                b.putInt(0, m.requestId()).putShort(4, (short) m.pkey()).putLong(8, m.serviceId());
                yield data(b, SIDR_REQ_DATA, m.data(), SIDR_REQ);
            }
            case CmMessage.SidrRep m -> {
                b.putInt(0, m.requestId()).put(4, (byte) m.status()).putInt(8, m.queuePair() << 8)
                        .putLong(12, m.serviceId()).putInt(20, m.qkey());
                yield data(b, SIDR_REP_DATA, m.data(), SIDR_REP);
            }
        };
        header.putInt(0, HEADER).putLong(8, message.transaction()).putShort(16, (short) attribute);
        return mad;
    }

    private static int request(ByteBuffer b, CmMessage.Req m) {
        CmMessage.Route r = m.route();
        b.putInt(0, m.localId()).putLong(8, m.serviceId()).putLong(16, m.caGuid());
        b.putInt(28, m.qkey()).putInt(32, m.queuePair() << 8 | m.responderResources());
        b.put(39, (byte) m.initiatorDepth());
        b.put(43, (byte) (m.remoteTimeout() << 3 | m.transport() << 1));
        b.putInt(44, m.startingPsn() << 8 | m.localTimeout() << 3 | m.retryCount());
        b.putShort(48, (short) m.pkey());
        b.put(50, (byte) (m.pathMtu() << 4 | m.rnrRetry()));
        b.put(51, (byte) (m.maxRetries() << 4 | (m.srq() ? 8 : 0) | m.extendedTransport()));
        // RoCE has no local identifiers: these are permissive; a hop limit above 1 means that routers may be on the
        // path
        b.putShort(52, (short) PERMISSIVE_LID).putShort(54, (short) PERMISSIVE_LID);
        b.put(56, r.local().bytes()).put(72, r.remote().bytes());
        b.putInt(88, r.flowLabel() << 12 | r.rate());
        b.put(92, (byte) r.trafficClass()).put(93, (byte) r.hopLimit());
        b.put(94, (byte) (r.hopLimit() <= 1 ? 8 : 0));
        b.put(95, (byte) (r.ackTimeout() << 3));
        return data(b, REQ_DATA, m.data(), REQ);
    }

    private static int reply(ByteBuffer b, CmMessage.Rep m) {
        b.putInt(8, m.qkey()).putInt(12, m.queuePair() << 8).putInt(16, m.queuePair() << 8).putInt(20, m
                .startingPsn() << 8);
        b.put(24, (byte) m.responderResources()).put(25, (byte) m.initiatorDepth());
        b.put(26, (byte) (m.ackDelay() << 3)).put(27, (byte) (m.rnrRetry() << 5 | (m.srq() ? 0x10 : 0)));
        b.putLong(28, m.caGuid());
        return ids(b, m.localId(), m.remoteId(), REP_DATA, m.data(), REP);
    }

    private static int ids(ByteBuffer b, int local, int remote, int dataAt, PrivateData data, int attribute) {
        b.putInt(0, local).putInt(4, remote);
        return data(b, dataAt, data, attribute);
    }

    private static int data(ByteBuffer b, int at, PrivateData data, int attribute) {
        if (data.length() > b.capacity() - at) {
            throw new IllegalArgumentException("private data of " + data.length() + " bytes, the message carries "
                    + (b.capacity() - at));
        }
        b.put(at, data.bytes());
        return attribute;
    }

    /**
     * Decodes a message.
     *
     * @param mad any bytes
     * @return null if they are not {@value #BYTES} bytes, or not a known message of the connection manager
     */
    public static @Nullable CmMessage decode(byte[] mad) {
        ByteBuffer header = ByteBuffer.wrap(mad);
        if (mad.length != BYTES || header.getInt(0) != HEADER) {
            return null;
        }
        long t = header.getLong(8);
        ByteBuffer b = header.slice(BODY, BYTES - BODY);
        int local = b.getInt(0);
        int remote = b.getInt(4);
        return switch (header.getShort(16)) {
            case REQ -> request(t, b, mad);
            case REP -> new CmMessage.Rep(t, local, remote, b.getInt(8), b.getInt(12) >>> 8, b.getInt(20) >>> 8, b
                    .get(24) & 0xFF,
                    b.get(25) & 0xFF, (b.get(26) & 0xFF) >>> 3, (b.get(27) & 0xFF) >>> 5, (b.get(27) & 0x10) != 0, b
                            .getLong(28), rest(mad, REP_DATA));
            case RTU -> new CmMessage.Rtu(t, local, remote, rest(mad, IDS_DATA));
            case REJ -> {
                int info = Math.min((b.get(9) & 0xFF) >>> 1, REJ_DATA - REJ_INFO);
                yield new CmMessage.Rej(t, local, remote, (b.get(8) & 0xFF) >>> 6, b.getShort(10) & 0xFFFF,
                        PrivateData.of(mad, BODY + REJ_INFO, BODY + REJ_INFO + info), rest(mad, REJ_DATA));
            }
            case MRA -> new CmMessage.Mra(t, local, remote, (b.get(8) & 0xFF) >>> 6, (b.get(9) & 0xFF) >>> 3, rest(
                    mad, MRA_DATA));
            case DREQ -> new CmMessage.Dreq(t, local, remote, b.getInt(8) >>> 8, rest(mad, DREQ_DATA));
            case DREP -> new CmMessage.Drep(t, local, remote, rest(mad, IDS_DATA));
            case SIDR_REQ -> new CmMessage.SidrReq(t, local, b.getShort(4) & 0xFFFF, b.getLong(8), rest(mad,
                    SIDR_REQ_DATA));
            case SIDR_REP -> new CmMessage.SidrRep(t, local, b.get(4) & 0xFF, b.getInt(8) >>> 8, b.getLong(12), b
                    .getInt(
                            20), rest(mad, SIDR_REP_DATA));
            default -> null;
        };
    }

    private static CmMessage.Req request(long t, ByteBuffer b, byte[] mad) {
        int path = b.get(50) & 0xFF;
        int more = b.get(51) & 0xFF;
        CmMessage.Route route = new CmMessage.Route(new Gid(b.getLong(56), b.getLong(64)), new Gid(b.getLong(72), b
                .getLong(80)), b.getInt(88) >>> 12, b.get(91) & 0x3F, b.get(92) & 0xFF, b.get(93) & 0xFF, (b.get(95)
                        & 0xFF) >>> 3);
        return new CmMessage.Req(t, b.getInt(0), b.getLong(8), b.getLong(16), b.getInt(28), b.getInt(32) >>> 8, b
                .get(35)
                & 0xFF, b.get(39) & 0xFF, (b.get(43) & 0xFF) >>> 3, (b.get(47) & 0xFF) >>> 3, more >>> 4, b.get(43) >> 1
                        & 3, more & 7, b.getInt(44) >>> 8, b.get(47) & 7, path & 7, (more & 8) != 0, b.getShort(48)
                                & 0xFFFF, path >>> 4, route, rest(mad, REQ_DATA));
    }

    private static PrivateData rest(byte[] mad, int from) {
        return PrivateData.of(mad, BODY + from, BYTES);
    }
}
