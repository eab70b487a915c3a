// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.OptionalLong;

import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.ip.Ipv4Address;

/**
 * What a {@link Stack} is on its link. Immutable.
 *
 * {@snippet :
 * StackConfig.of("10.9.0.2/24").withGateway("10.9.0.1")
 * }
 */
public final class StackConfig {
    private static final long DEFAULT_TCP_MEMORY = 1L << 30;
    private static final long DEFAULT_SPIN = 20_000;

    private final Ipv4Address address;
    private final OptionalLong mac;
    private final long spin;
    private final long tcpMemory;

    private StackConfig(Ipv4Address address, OptionalLong mac, long spin, long tcpMemory) {
        this.address = address;
        this.mac = mac;
        this.spin = spin;
        this.tcpMemory = tcpMemory;
    }

    /**
     * An address that no other host of the link has, and the bits of its subnet.
     *
     * @param address such as {@code 10.9.0.2/24}
     * @throws IllegalArgumentException for what is not the IPv4 address of a host with 1 to 32 bits
     */
    public static StackConfig of(String address) {
        int slash = address.indexOf('/');
        String bits = slash < 0 ? "" : address.substring(slash + 1);
        int a = parse(slash < 0 ? address : address.substring(0, slash));
        if (!bits.matches("[1-9]|[12][0-9]|3[0-2]")) {
            throw new IllegalArgumentException("'" + address
                    + "' lacks the bits of its subnet: write it as 10.9.0.2/24");
        }
        Ipv4Address i = new Ipv4Address(a, Integer.parseInt(bits), 0);
        if (!i.isHost(a)) {
            throw new IllegalArgumentException("'" + address + "' is not the address of a host");
        }
        return new StackConfig(i, OptionalLong.empty(), Runtime.getRuntime().availableProcessors() > 1
                ? DEFAULT_SPIN
                : 0, DEFAULT_TCP_MEMORY);
    }

    /**
     * The host of the subnet that forwards packets to all other ones.
     *
     * @throws IllegalArgumentException if it is not another host of the subnet
     */
    public StackConfig withGateway(String gateway) {
        int g = parse(gateway);
        if (!address.isHost(g) || g == address.address() || address.nextHop(g) != g) {
            throw new IllegalArgumentException("the gateway " + gateway + " is not another host of "
                    + Ipv4Address.text(address.address()) + "/" + address.prefix());
        }
        return new StackConfig(new Ipv4Address(address.address(), address.prefix(), g), mac, spin, tcpMemory);
    }

    /**
     * The Ethernet address, in the low 48 bits. Without this it is the interface's, or of a {@code tap_} device, whose other
     * end has that, 02:56 and the four bytes of the IPv4 address.
     *
     * @throws IllegalArgumentException if it is 0, of a group, or longer
     */
    public StackConfig withMac(long address48) {
        if (address48 <= 0 || address48 >>> 48 != 0 || EthernetHeader.isGroup(address48)) {
            throw new IllegalArgumentException(Long.toHexString(address48) + " is not the Ethernet address of a host");
        }
        return new StackConfig(address, OptionalLong.of(address48), spin, tcpMemory);
    }

    /**
     * How long a receiver polls the device before it sleeps: without this 20 microseconds, or 0 with one processor. Who polls does the work of the stack's
     * thread, so a datagram is there without a thread that has to wake. 0 for those that wait long.
     *
     * @throws IllegalArgumentException if it is negative or more than a second
     */
    public StackConfig withSpin(Duration time) {
        if (time.isNegative() || time.compareTo(Duration.ofSeconds(1)) > 0) {
            throw new IllegalArgumentException("to poll for " + time + " is not 0 to 1 second");
        }
        return new StackConfig(address, mac, time.toNanos(), tcpMemory);
    }

    /**
     * The most bytes that data of all connections of TCP takes, sent and received: without this 1 GiB. While there is no more, what comes is dropped and
     * comes again, and writes wait.
     *
     * @throws IllegalArgumentException for less than 1 MiB
     */
    public StackConfig withTcpMemory(long bytes) {
        if (bytes < 1 << 20) {
            throw new IllegalArgumentException(bytes + " bytes for TCP are less than 1 MiB");
        }
        return new StackConfig(address, mac, spin, bytes);
    }

    long tcpMemory() {
        return tcpMemory;
    }

    private static int parse(String text) {
        try {
            if (text.matches("[0-9]+([.][0-9]+){3}")) { // the JDK takes fewer numbers, too
                return toInt(Inet4Address.ofLiteral(text));
            }
        } catch (IllegalArgumentException e) {
            // one of the numbers is too large
        }
        throw new IllegalArgumentException("'" + text + "' is not an IPv4 address");
    }

    static int toInt(InetAddress a) {
        byte[] b = a.getAddress();
        return b[0] << 24 | (b[1] & 0xff) << 16 | (b[2] & 0xff) << 8 | b[3] & 0xff;
    }

    Ipv4Address address() {
        return address;
    }

    long spin() {
        return spin;
    }

    OptionalLong mac() {
        return mac;
    }

    @Override
    public String toString() {
        return Ipv4Address.text(address.address()) + "/" + address.prefix() + (address.gateway() == 0
                ? ""
                : " via " + Ipv4Address.text(address.gateway()));
    }
}
