// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.nio.ByteBuffer;

/** Hand-made packets, byte by byte, without the code under test. */
final class Packets {
    // opcodes of type RC
    static final int ACK = 0x11;
    static final int SEND_FIRST = 0x00;
    static final int SEND_MIDDLE = 0x01;
    static final int SEND_LAST = 0x02;
    static final int SEND_ONLY = 0x04;
    static final int SEND_ONLY_IMM = 0x05;
    static final int WRITE_FIRST = 0x06;
    static final int WRITE_MIDDLE = 0x07;
    static final int WRITE_LAST = 0x08;
    static final int WRITE_LAST_IMM = 0x09;
    static final int WRITE_ONLY = 0x0a;
    static final int READ = 0x0c;
    static final int READ_FIRST = 0x0d;
    static final int READ_MIDDLE = 0x0e;
    static final int READ_LAST = 0x0f;
    static final int READ_ONLY = 0x10;
    static final int ATOMIC_ACK = 0x12;
    static final int COMPARE_AND_SWAP = 0x13;
    static final int FETCH_AND_ADD = 0x14;
    static final int SEND_ONLY_INVALIDATE = 0x17;
    static final int FLUSH = 0x1c;
    static final int ATOMIC_WRITE = 0x1d;

    private static final int BTH = 12;

    private Packets() {}

    /** Opcode, destination, PSN, acknowledge request; then headers and payload, padded. */
    static byte[] packet(int opcode, int destination, int psn, boolean acknowledge, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        int pad = -length & 3;
        ByteBuffer b = ByteBuffer.allocate(BTH + length + pad);
        b.put((byte) opcode).put((byte) (0x40 | pad << 4)).putShort((short) 0xffff).putInt(destination)
                .putInt((acknowledge ? 1 << 31 : 0) | psn & 0xffffff);
        for (byte[] part : parts) {
            b.put(part);
        }
        return b.array();
    }

    static byte[] reth(long address, int rkey, int length) {
        return ByteBuffer.allocate(16).putLong(address).putInt(rkey).putInt(length).array();
    }

    static byte[] atomicEth(long address, int rkey, long swapOrAdd, long compare) {
        return ByteBuffer.allocate(28).putLong(address).putInt(rkey).putLong(swapOrAdd).putLong(compare).array();
    }

    static byte[] aeth(int syndrome, int msn) {
        return ByteBuffer.allocate(4).putInt(syndrome << 24 | msn).array();
    }

    static byte[] word(int v) {
        return ByteBuffer.allocate(4).putInt(v).array();
    }

    static byte[] deth(int qkey, int source) {
        return ByteBuffer.allocate(8).putInt(qkey).putInt(source).array();
    }

    static byte[] number(long v) {
        return ByteBuffer.allocate(8).putLong(v).array();
    }

    static byte[] bytes(int n) {
        byte[] b = new byte[n];
        for (int i = 0; i < n; i++) {
            b[i] = (byte) (i + 1);
        }
        return b;
    }
}
