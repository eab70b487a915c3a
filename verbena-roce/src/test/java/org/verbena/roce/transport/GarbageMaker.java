// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

import org.verbena.verbs.QueuePairType;

/**
 * Makes packets that are almost valid: now and then with expected PSNs, and with keys and addresses that are granted.
 */
public final class GarbageMaker {
    private final int number;
    private final long granted;
    private final int grantedBytes;
    private final int memory;
    private final int srq;
    private final int qkey;
    private final int rqPsn;
    private final int sqPsn;
    private final int[] keys;

    /**
     * For one queue pair.
     *
     * @param number its queue pair number
     * @param granted address that may be written
     * @param grantedBytes the number of bytes granted
     * @param memory bytes around it that are not granted
     * @param srq number of a shared receive queue, for XRC
     * @param qkey its Q_Key, for UD
     * @param rqPsn the first PSN that it expects
     * @param sqPsn the first PSN that it sends
     * @param keys that of the granted bytes, then others
     */
    public GarbageMaker(int number, long granted, int grantedBytes, int memory, int srq, int qkey, int rqPsn, int sqPsn,
            int... keys) {
        this.number = number;
        this.granted = granted;
        this.grantedBytes = grantedBytes;
        this.memory = memory;
        this.srq = srq;
        this.qkey = qkey;
        this.rqPsn = rqPsn;
        this.sqPsn = sqPsn;
        this.keys = keys.clone();
    }

    /** A packet to a queue pair of this type. */
    public byte[] make(Random random, int type) {
        int transport = switch (type) {
            case QueuePairType.RC -> 0;
            case QueuePairType.UC -> 0x20;
            case QueuePairType.UD -> 0x60;
            default -> 0xa0;
        };
        int op = random.nextInt(32);
        ByteBuffer b = ByteBuffer.allocate(12 + 44 + 1024 + 4);
        b.position(12);
        if (transport == 0xa0 && (op < 0x0d || op > 0x12)) {
            b.putInt(random.nextInt(4) == 0 ? random.nextInt() : srq);
        }
        switch (transport == 0x60 ? 0x60 : op) {
            case 0x06, 0x0a, 0x0b, 0x0c, 0x13, 0x14, 0x1d -> address(random, b);
            case 0x1c -> address(random, b.putInt(random.nextInt(64)));
            case 0x0d, 0x0f, 0x10, 0x11, 0x12 -> b.putInt(syndrome(random) << 24);
            case 0x60 -> b.putInt(random.nextInt(4) == 0 ? random.nextInt() : qkey).putInt(random.nextInt());
            default -> {
                // nothing but the payload
            }
        }
        if (op == 0x0b || op == 0x03 || op == 0x05 || op == 0x09 || op == 0x16 || op == 0x17) {
            b.putInt(random.nextInt());
        }
        int payload = switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> 256;
            case 2 -> 8;
            default -> random.nextInt(1024);
        };
        for (int i = 0; i < payload; i++) {
            b.put((byte) 0xee);
        }
        while ((b.position() & 3) != 0) {
            b.put((byte) 0);
        }
        int length = b.position();
        int psn = random.nextInt(4) == 0 ? random.nextInt() : rqPsn + random.nextInt(40) - 8;
        if (op >= 0x0d && op <= 0x12) {
            psn = sqPsn + random.nextInt(40) - 4;
        }
        b.put(0, (byte) (transport | op)).put(1, (byte) ((-payload & 3) << 4)).putShort(2, (short) -1)
                .putInt(4, number).putInt(8, psn & 0xffffff | (random.nextBoolean() ? 1 << 31 : 0));
        return Arrays.copyOf(b.array(), length);
    }

    private void address(Random random, ByteBuffer b) {
        long offset = switch (random.nextInt(4)) {
            case 0 -> grantedBytes - random.nextInt(300);
            case 1 -> random.nextInt(memory) - memory / 2;
            default -> random.nextInt(grantedBytes);
        };
        b.putLong(random.nextInt(10) == 0 ? random.nextLong() : granted + offset);
        b.putInt(random.nextInt(6) == 0 ? random.nextInt() : keys[random.nextInt(2) * random.nextInt(keys.length)]);
        b.putInt(switch (random.nextInt(4)) {
            case 0 -> random.nextInt();
            case 1 -> 256;
            case 2 -> 8;
            default -> random.nextInt(2000);
        });
    }

    private static int syndrome(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(256);
            case 1 -> 0x20 | random.nextInt(32);
            case 2 -> 0x60 + random.nextInt(4);
            default -> 0x1f;
        };
    }
}
