// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;

import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpecType;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.RxHashFields;

/** The hash of a packet by its definition: a product of bits of the packet and of the key, without tables. */
public final class SpreadModel {
    private SpreadModel() {}

    /** The hash of a packet. */
    public static int hash(RxHashConfiguration c, byte[] packet) {
        PacketModel p = PacketModel.of(packet);
        return hash(c, p);
    }

    static int hash(RxHashConfiguration c, PacketModel p) {
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        boolean four = p.has(FlowSpecType.IPV4);
        boolean six = p.has(FlowSpecType.IPV6);
        boolean tcp = p.has(FlowSpecType.TCP);
        boolean udp = p.has(FlowSpecType.UDP);
        add(input, c, four, RxHashFields.SRC_IPV4, p, FlowField.IPV4_SOURCE);
        add(input, c, four, RxHashFields.DST_IPV4, p, FlowField.IPV4_DESTINATION);
        add(input, c, six, RxHashFields.SRC_IPV6, p, FlowField.IPV6_SOURCE);
        add(input, c, six, RxHashFields.DST_IPV6, p, FlowField.IPV6_DESTINATION);
        add(input, c, tcp, RxHashFields.SRC_PORT_TCP, p, FlowField.SOURCE_PORT);
        add(input, c, tcp, RxHashFields.DST_PORT_TCP, p, FlowField.DESTINATION_PORT);
        add(input, c, udp, RxHashFields.SRC_PORT_UDP, p, FlowField.SOURCE_PORT);
        add(input, c, udp, RxHashFields.DST_PORT_UDP, p, FlowField.DESTINATION_PORT);
        return toeplitz(c.key(), input.toByteArray());
    }

    private static void add(ByteArrayOutputStream to, RxHashConfiguration c, boolean there, int field, PacketModel p,
            int of) {
        if (there && (c.fields() & field) != 0) {
            to.writeBytes(p.bytes(of));
        }
    }

    private static int toeplitz(byte[] key, byte[] input) {
        BigInteger k = new BigInteger(1, key);
        int hash = 0;
        for (int bit = 0; bit < 8 * input.length; bit++) {
            if ((input[bit / 8] >> 7 - bit % 8 & 1) != 0) {
                hash ^= k.shiftRight(8 * key.length - 32 - bit).intValue();
            }
        }
        return hash;
    }
}
