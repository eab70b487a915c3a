// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.SplittableRandom;

/** A rule made by chance, and what it matches by the definition, bit by bit. */
record RandomRule(Role role, Half first, Half second, String text) {
    private static final List<Role> ROLES = List.of(Role.values());

    /** The addresses of a socket. */
    record Sockets(InetSocketAddress local, InetSocketAddress remote) {}

    /** An address with a prefix, and ports. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Half(boolean any, byte[] address, int prefix, int firstPort, int lastPort) {
        boolean matches(InetSocketAddress s) {
            if (s.getPort() < firstPort || s.getPort() > lastPort) {
                return false;
            }
            byte[] is = wide(s.getAddress().getAddress());
            byte[] mine = wide(address);
            int bits = address.length == 4 ? 96 + prefix : prefix;
            for (int i = 0; i < bits && !any; i++) {
                if (((is[i / 8] ^ mine[i / 8]) >> 7 - i % 8 & 1) != 0) {
                    return false;
                }
            }
            return true;
        }

        /** An address that has many bits in common with this one. */
        InetSocketAddress near(SplittableRandom random) {
            byte[] a = address.clone();
            for (int k = random.nextInt(3); k > 0; k--) {
                int bit = random.nextInt(a.length * 8);
                a[bit / 8] ^= (byte) (1 << 7 - bit % 8);
            }
            if (a.length == 16 && random.nextInt(10) == 0) {
                a = random(random, 4);
            }
            int port = random.nextInt(3) == 0
                    ? random.nextInt(65536)
                    : Math.clamp(firstPort + random.nextInt(5) - 2, 0,
                            65535);
            return new InetSocketAddress(inet(a), port);
        }

        String text() {
            String ip = inet(address).getHostAddress();
            boolean full = prefix == address.length * 8;
            String a = any
                    ? "*"
                    : address.length == 16
                            ? "[" + ip + (full ? "" : "/" + prefix) + "]"
                            : ip + (full
                                    ? ""
                                    : "/" + prefix);
            String p = firstPort == 0 && lastPort == 65535
                    ? "*"
                    : firstPort == lastPort
                            ? "" + firstPort
                            : firstPort + "-" + lastPort;
            return a + ":" + p;
        }
    }

    static RandomRule next(SplittableRandom random) {
        Role role = ROLES.get(random.nextInt(ROLES.size()));
        Half first = half(random);
        boolean two = random.nextBoolean();
        Half second = half(random);
        String[] transports = {"os", "stream", "vma", "stack", "*"};
        String text = "use " + transports[random.nextInt(transports.length)] + " " + role + " " + first.text()
                + (two ? ":" + second.text() : "") + (random.nextInt(4) == 0 ? " counter c" + random.nextInt(9) : "");
        return new RandomRule(role, first, two ? second : new Half(true, new byte[4], 0, 0, 65535), text);
    }

    private static Half half(SplittableRandom random) {
        int length = random.nextInt(3) == 0 ? 16 : 4;
        byte[] address = random(random, length);
        int prefix = random.nextBoolean() ? length * 8 : random.nextInt(length * 8 + 1);
        int firstPort = random.nextInt(65536);
        int lastPort = random.nextBoolean() ? firstPort : firstPort + random.nextInt(65536 - firstPort);
        boolean all = random.nextInt(4) == 0;
        return new Half(random.nextInt(4) == 0, address, prefix, all ? 0 : firstPort, all ? 65535 : lastPort);
    }

    private static byte[] random(SplittableRandom random, int length) {
        byte[] b = new byte[length];
        random.nextBytes(b);
        if (length == 16) {
            b[0] = 0x20; // not the form of an IPv4 address
        }
        return b;
    }

    private static InetAddress inet(byte[] b) {
        try {
            return InetAddress.getByAddress(b);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] wide(byte[] b) {
        byte[] all = new byte[16];
        if (b.length == 4) {
            all[10] = -1;
            all[11] = -1;
        }
        System.arraycopy(b, 0, all, 16 - b.length, b.length);
        return all;
    }

    Sockets sockets(SplittableRandom random) {
        boolean remoteFirst = role.isRemoteFirst();
        InetSocketAddress one = first.near(random);
        InetSocketAddress other = second.near(random);
        return remoteFirst ? new Sockets(other, one) : new Sockets(one, other);
    }

    boolean matches(Sockets s) {
        boolean remoteFirst = role.isRemoteFirst();
        return first.matches(remoteFirst ? s.remote : s.local) && (!role.hasSecond() || second.matches(s.local));
    }
}
