// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.function.BinaryOperator;
import java.util.function.Predicate;

/**
 * A filter's text, and which flows pcap-filter(7) says that it wants.
 *
 * @param wants by the fields of a flow alone
 */
record RandomFilter(String text, Predicate<MonitoredFlow> wants) {
    private static final String[] ADDRESSES = {"10.0.0.0", "10.0.0.1", "10.0.1.0", "10.0.1.1", "2001::",
        "2001::1", "2001:0:0:1::", "2001:0:0:1::1"};
    private static final int[] PORTS = {53, 80, 4791};

    static RandomFilter of(Random random, int depth) {
        if (depth == 0 || random.nextInt(4) == 0) {
            return primitive(random);
        }
        switch (random.nextInt(5)) {
            case 0 -> {
                RandomFilter f = of(random, depth - 1);
                return new RandomFilter((random.nextBoolean() ? "not (" : "! ( ") + f.text + ")", f.wants.negate());
            }
            case 1, 2 -> { // a row, from the left, whatever the words are
                RandomFilter row = of(random, depth - 1).inParentheses();
                for (int i = random.nextInt(4); i >= 0; i--) {
                    RandomFilter right = of(random, depth - 1).inParentheses();
                    boolean and = random.nextBoolean();
                    row = new RandomFilter(row.text + (and ? " and " : " or ") + right.text, and
                            ? row.wants.and(right.wants)
                            : row.wants.or(right.wants));
                }
                return row;
            }
            default -> {
                RandomFilter left = of(random, depth - 1).inParentheses();
                RandomFilter right = of(random, depth - 1).inParentheses();
                return random.nextBoolean()
                        ? new RandomFilter(left.text + "&&" + right.text, left.wants.and(right.wants))
                        : new RandomFilter(left.text + "||" + right.text, left.wants.or(right.wants));
            }
        }
    }

    private RandomFilter inParentheses() {
        return new RandomFilter("(" + text + ")", wants);
    }

    private static RandomFilter primitive(Random random) {
        return switch (random.nextInt(9)) {
            case 0 -> new RandomFilter("vlan", f -> f.vlan() >= 0);
            case 1 -> {
                int number = random.nextInt(4, 9);
                yield new RandomFilter("vlan " + number, f -> f.vlan() == number);
            }
            case 2 -> protocol(random);
            case 3 -> new RandomFilter(random.nextBoolean() ? "inbound" : "not outbound", f -> !f.sent());
            case 4 -> {
                int number = random.nextInt(20);
                yield new RandomFilter("proto " + number, f -> f.protocol() == number);
            }
            case 5, 6 -> hosts(random);
            default -> ports(random);
        };
    }

    private static RandomFilter protocol(Random random) {
        return switch (random.nextInt(7)) {
            case 0 -> new RandomFilter("ip", f -> f.etherType() == 0x0800);
            case 1 -> new RandomFilter("ip6", f -> f.etherType() == 0x86dd);
            case 2 -> new RandomFilter("arp", f -> f.etherType() == 0x0806);
            case 3 -> new RandomFilter("tcp", f -> f.protocol() == 6);
            case 4 -> new RandomFilter("udp", f -> f.protocol() == 17);
            case 5 -> new RandomFilter("icmp", f -> f.protocol() == 1 && f.etherType() == 0x0800);
            default -> new RandomFilter("icmp6", f -> f.protocol() == 58 && f.etherType() == 0x86dd);
        };
    }

    /** What a condition on one end becomes by the words for directions. */
    private static RandomFilter ends(Random random, String before, String after, Predicate<MonitoredFlow> source,
            Predicate<MonitoredFlow> destination) {
        BinaryOperator<String> text = (words, rest) -> before + words + rest;
        return switch (random.nextInt(5)) {
            case 0 -> new RandomFilter(text.apply("src ", after), source);
            case 1 -> new RandomFilter(text.apply("dst ", after), destination);
            case 2 -> new RandomFilter(text.apply("src and dst ", after), source.and(destination));
            case 3 -> new RandomFilter(text.apply("src or dst ", after), source.or(destination));
            default -> new RandomFilter(text.apply("", after), source.or(destination));
        };
    }

    private static RandomFilter hosts(Random random) {
        InetAddress address = InetAddress.ofLiteral(ADDRESSES[random.nextInt(ADDRESSES.length)]);
        byte[] bytes = address.getAddress();
        if (random.nextBoolean()) {
            return ends(random, "", "host " + address.getHostAddress(), f -> is(f.source(), bytes, 8 * bytes.length),
                    f -> is(f.destination(), bytes, 8 * bytes.length));
        }
        int prefix = random.nextInt(8 * bytes.length + 1);
        for (int i = prefix; i < 8 * bytes.length; i++) {
            bytes[i / 8] &= (byte) ~(0x80 >> i % 8);
        }
        String net;
        try {
            net = InetAddress.getByAddress(bytes).getHostAddress() + "/" + prefix;
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
        return ends(random, "", "net " + net, f -> is(f.source(), bytes, prefix), f -> is(f.destination(), bytes,
                prefix));
    }

    private static boolean is(Optional<InetAddress> address, byte[] wanted, int bits) {
        byte[] is = address.map(InetAddress::getAddress).orElse(new byte[0]);
        if (is.length != wanted.length) {
            return false;
        }
        byte[] masked = is.clone();
        for (int i = bits; i < 8 * is.length; i++) {
            masked[i / 8] &= (byte) ~(0x80 >> i % 8);
        }
        return Arrays.equals(masked, wanted);
    }

    private static RandomFilter ports(Random random) {
        int protocol = random.nextInt(3); // any, TCP, UDP
        Predicate<MonitoredFlow> of = f -> protocol == 0 || f.protocol() == (protocol == 1 ? 6 : 17);
        String before = protocol == 0 ? "" : protocol == 1 ? "tcp " : "udp ";
        int port = PORTS[random.nextInt(PORTS.length)];
        if (random.nextBoolean()) {
            return ends(random, before, "port " + port, of.and(f -> f.sourcePort() == port), of.and(f -> f
                    .destinationPort() == port));
        }
        int first = random.nextInt(54);
        int last = Math.min(65_535, port * random.nextInt(1, 20));
        return ends(random, before, "portrange " + first + "-" + last, of.and(f -> within(f.sourcePort(), first,
                last)), of.and(f -> within(f.destinationPort(), first, last)));
    }

    private static boolean within(int port, int first, int last) {
        return port >= first && port <= last;
    }
}
