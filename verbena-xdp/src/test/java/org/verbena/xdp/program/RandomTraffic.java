// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Random;

import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowFlags;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowType;

/**
 * Flows and packets of few addresses and ports, so that they meet. Packets have tags, options, fragments, extension
 * headers and errors, and some are cut off or have wrong lengths.
 */
public final class RandomTraffic {
    private static final int[] PORTS = {53, 53, 80, 80, 4791};
    private static final int[] TYPES = {0x0800, 0x0800, 0x86dd, 0x86dd, 0x88b5, 0x8847, 0x0806};
    private static final int[] PROTOCOLS = {6, 6, 17, 17, 1, 1, 1, 50, 58, 44};
    private static final int[] NEXT_HEADERS = {6, 6, 17, 17, 58, 58, 58, 1, 0, 43, 44, 60};
    private static final int[] QUOTED = {6, 17, 17, 6, 132};
    private static final int[] ERRORS = {3, 3, 11, 12, 5, 8, 0, 4};
    private static final int[] ERRORS_6 = {1, 2, 3, 4, 4, 0, 5, 128};
    private static final int MIN_FRAME = 14;

    private final Random random;

    public RandomTraffic(Random random) {
        this.random = random;
    }

    private boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }

    private int of(int... values) {
        return values[random.nextInt(values.length)];
    }

    private byte[] mac() {
        return new byte[] {(byte) of(2, 2, 2, 3, 0x33), 0, 0, 0, 0, (byte) random.nextInt(2)};
    }

    private byte[] v4() {
        return new byte[] {10, 0, (byte) (oneIn(4) ? 1 : 0), (byte) random.nextInt(2)};
    }

    private byte[] v6() {
        byte[] a = new byte[16];
        a[0] = 0x20;
        a[1] = 1;
        a[7] = (byte) (oneIn(4) ? 1 : 0);
        a[15] = (byte) random.nextInt(2);
        return a;
    }

    private int tag() {
        return random.nextInt(3) << 13 | of(5, 7);
    }

    // flows

    /** All bits, a prefix, any bits, or none. */
    private byte[] mask(int bytes) {
        byte[] mask = new byte[bytes];
        switch (random.nextInt(7)) {
            case 0 -> {
                int prefix = random.nextInt(8 * bytes + 1);
                for (int bit = 0; bit < prefix; bit++) {
                    mask[bit / 8] |= (byte) (0x80 >> bit % 8);
                }
            }
            case 1 -> random.nextBytes(mask);
            default -> Arrays.fill(mask, (byte) -1);
        }
        return mask;
    }

    private FlowSpec maybe(FlowSpec spec, int n, int field, byte[] value) {
        return oneIn(n) ? spec.match(field, value, mask(value.length)) : spec;
    }

    private static byte[] two(int value) {
        return new byte[] {(byte) (value >> 8), (byte) value};
    }

    private FlowSpec ethernet() {
        FlowSpec s = maybe(FlowSpec.ethernet(), 2, FlowField.ETH_DESTINATION, mac());
        s = maybe(s, 3, FlowField.ETH_SOURCE, mac());
        s = maybe(s, 3, FlowField.ETH_TYPE, two(of(TYPES)));
        return maybe(s, 3, FlowField.ETH_VLAN, two(tag()));
    }

    private FlowSpec network(boolean six) {
        byte[] protocol = {(byte) of(six ? NEXT_HEADERS : PROTOCOLS)};
        byte[] tos = {(byte) of(0, 8, 184)};
        if (six) {
            FlowSpec s = maybe(FlowSpec.ipv6(), 2, FlowField.IPV6_SOURCE, v6());
            s = maybe(s, 2, FlowField.IPV6_DESTINATION, v6());
            s = maybe(s, 4, FlowField.IPV6_NEXT_HEADER, protocol);
            return maybe(s, 4, FlowField.IPV6_TRAFFIC_CLASS, tos);
        }
        FlowSpec s = maybe(FlowSpec.ipv4(), 2, FlowField.IPV4_SOURCE, v4());
        s = maybe(s, 2, FlowField.IPV4_DESTINATION, v4());
        s = maybe(s, 4, FlowField.IPV4_PROTOCOL, protocol);
        return maybe(s, 4, FlowField.IPV4_TOS, tos);
    }

    private FlowSpec transport(FlowSpec s) {
        FlowSpec one = maybe(s, 2, FlowField.SOURCE_PORT, two(of(PORTS)));
        return maybe(one, 2, FlowField.DESTINATION_PORT, two(of(PORTS)));
    }

    FlowAttributes flow() {
        FlowAttributes.Builder b = FlowAttributes.builder().priority(random.nextInt(4));
        switch (random.nextInt(20)) {
            case 0 -> b.type(FlowType.SNIFFER);
            case 1 -> b.type(FlowType.MC_DEFAULT);
            case 2 -> b.type(FlowType.ALL_DEFAULT);
            default -> {
                if (oneIn(3)) {
                    b.flags(FlowFlags.DONT_TRAP);
                }
                if (oneIn(3)) {
                    b.spec(ethernet());
                }
                if (!oneIn(4)) {
                    b.spec(network(random.nextBoolean()));
                }
                if (!oneIn(4)) {
                    b.spec(transport(random.nextBoolean() ? FlowSpec.tcp() : FlowSpec.udp()));
                }
            }
        }
        return b.build();
    }

    // packets

    private static void put(ByteArrayOutputStream out, int value, int bytes) {
        for (int i = bytes - 1; i >= 0; i--) {
            out.write(value >> 8 * i);
        }
    }

    private byte[] anything(int most) {
        byte[] b = new byte[random.nextInt(most + 1)];
        random.nextBytes(b);
        return b;
    }

    /** A length that is right, but for some. */
    private int length(int right) {
        return oneIn(12) ? of(0, 4, 19, 20, right - 1, right - 13, right + 1, right + 200, 65535) & 0xFFFF : right;
    }

    public byte[] packet() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(mac());
        out.writeBytes(mac());
        for (int tags = of(0, 0, 0, 1, 2, 3); tags > 0; tags--) {
            put(out, of(0x8100, 0x8100, 0x88a8), 2);
            put(out, tag(), 2);
        }
        int type = of(TYPES);
        put(out, type, 2);
        out.writeBytes(switch (type) {
            case 0x0800 -> oneIn(20) ? ipv6() : ipv4(payload(false, true), true);
            case 0x86dd -> oneIn(20) ? anything(50) : ipv6();
            default -> anything(60);
        });
        byte[] whole = out.toByteArray();
        if (oneIn(5)) {
            whole = Arrays.copyOf(whole, MIN_FRAME + random.nextInt(Math.max(1, whole.length - MIN_FRAME)));
        }
        if (oneIn(6)) {
            whole[random.nextInt(whole.length)] = (byte) random.nextInt();
        }
        return Arrays.copyOf(whole, oneIn(3) ? Math.max(60, whole.length) : whole.length); // with padding
    }

    /** A packet of many buffers. */
    byte[] large() {
        byte[] b = packet();
        return Arrays.copyOf(b, 4000 + random.nextInt(20_000));
    }

    private static final class Payload {
        private final int protocol;
        private final byte[] bytes;

        Payload(int protocol, byte[] bytes) {
            this.protocol = protocol;
            this.bytes = bytes;
        }
    }

    private Payload payload(boolean six, boolean errors) {
        int protocol = of(errors ? six ? NEXT_HEADERS : PROTOCOLS : QUOTED);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        switch (protocol) {
            case 6, 17 -> {
                put(out, of(PORTS), 2);
                put(out, of(PORTS), 2);
                out.writeBytes(new byte[protocol == 6 ? 16 : 4]);
                out.writeBytes(anything(30));
            }
            case 1, 58 -> {
                put(out, of(six ? ERRORS_6 : ERRORS), 1);
                out.writeBytes(new byte[7]);
                if (errors) {
                    out.writeBytes(six ? ipv6(payload(true, false), false) : ipv4(payload(false, false), false));
                }
            }
            default -> out.writeBytes(anything(60));
        }
        byte[] bytes = out.toByteArray();
        return new Payload(protocol, errors || !oneIn(3)
                ? bytes
                : Arrays.copyOf(bytes, Math.min(bytes.length, of(0, 4,
                        7, 8, 9, 20))));
    }

    private byte[] ipv4(Payload payload, boolean fragments) {
        int options = 4 * of(0, 0, 0, 1, 5, 10);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        put(out, 4 << 4 | (oneIn(25) ? random.nextInt(16) : 5 + options / 4), 1);
        put(out, of(0, 8, 184), 1);
        put(out, length(20 + options + payload.bytes.length), 2);
        put(out, 0, 2);
        put(out, oneIn(fragments ? 6 : 4) ? of(0x2000, 0x2005, 3, 0x1fff, 0x4000, 0x8000) : 0x4000, 2);
        put(out, 64, 1);
        put(out, payload.protocol, 1);
        put(out, 0, 2);
        out.writeBytes(v4());
        out.writeBytes(v4());
        out.writeBytes(new byte[options]);
        out.writeBytes(payload.bytes);
        return out.toByteArray();
    }

    private byte[] ipv6() {
        return ipv6(payload(true, true), true);
    }

    private byte[] ipv6(Payload payload, boolean wrong) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        put(out, (oneIn(25) ? random.nextInt(16) : 6) << 28 | of(0, 8, 184) << 20 | random.nextInt(1 << 20), 4);
        put(out, wrong ? length(payload.bytes.length) : payload.bytes.length, 2);
        put(out, payload.protocol, 1);
        put(out, 64, 1);
        out.writeBytes(v6());
        out.writeBytes(v6());
        out.writeBytes(payload.bytes);
        return out.toByteArray();
    }
}
