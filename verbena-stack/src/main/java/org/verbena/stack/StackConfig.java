// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.StringJoiner;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.ip.Ipv4Address;
import org.verbena.stack.ip.Ipv6Config;

/**
 * What a {@link Stack} is on its link. Immutable.
 *
 * {@snippet :
 * StackConfig.of("10.9.0.2/24").withGateway("10.9.0.1").withAddress("fd00:9::2/64")
 * }
 */
public final class StackConfig {
    private static final long DEFAULT_TCP_MEMORY = 1L << 30;
    private static final long DEFAULT_SPIN = 20_000;
    private static final Ipv6Config ALONE = new Ipv6Config(List.of(), null, true);

    private final boolean shared;
    private final @Nullable Ipv4Address ipv4;
    private final @Nullable Ipv6Config ipv6;
    private final OptionalLong mac;
    private final long spin;
    private final long tcpMemory;
    private final int vlan;

    private StackConfig(boolean shared, @Nullable Ipv4Address ipv4, @Nullable Ipv6Config ipv6, OptionalLong mac,
            long spin, long tcpMemory, int vlan) {
        this.shared = shared;
        this.ipv4 = ipv4;
        this.ipv6 = ipv6;
        this.mac = mac;
        this.spin = spin;
        this.tcpMemory = tcpMemory;
        this.vlan = vlan;
    }

    /**
     * An address that no other host of the link has, and the bits of its subnet.
     *
     * @param address such as {@code 10.9.0.2/24} or {@code fd00:9::2/64}
     * @throws IllegalArgumentException for what is not the address of a host with the bits of its subnet, 1 to 32 or 1 to 128
     */
    public static StackConfig of(String address) {
        return new StackConfig(false, null, null, OptionalLong.empty(), defaultSpin(), DEFAULT_TCP_MEMORY, 0)
                .withAddress(
                        address);
    }

    /**
     * The addresses, routes, neighbours and groups that the kernel has on the interface, as they are and change: the stack gets the packets of its sockets, and the
     * kernel all others. For devices {@code xdp_<netdev>}.
     */
    public static StackConfig shared() {
        return new StackConfig(true, null, null, OptionalLong.empty(), defaultSpin(), DEFAULT_TCP_MEMORY, 0);
    }

    private static long defaultSpin() {
        return Runtime.getRuntime().availableProcessors() > 1 ? DEFAULT_SPIN : 0;
    }

    private void requireOwn(String what) {
        if (shared) {
            throw new IllegalArgumentException("with StackConfig.shared(), the " + what + " is the kernel's");
        }
    }

    boolean isShared() {
        return shared;
    }

    /**
     * Another address: one of IPv4 in all, and up to 8 of IPv6. With one of IPv6 the stack has a link-local address, too, and as
     * {@linkplain #withRouterAdvertisements routers tell} more. An address of IPv6 that another host turns out to have is given up.
     *
     * @param address such as {@code fd00:9::2/64}
     * @throws IllegalArgumentException for what {@link #of} does not take, a second one of IPv4, or too many
     */
    public StackConfig withAddress(String address) {
        requireOwn("address");
        int slash = address.indexOf('/');
        String bits = slash < 0 ? "" : address.substring(slash + 1);
        IpAddress a = parse(slash < 0 ? address : address.substring(0, slash));
        int most = a.isIpv4() ? 32 : 128;
        int n = bits.matches("[1-9][0-9]{0,2}") ? Integer.parseInt(bits) : 0;
        if (n < 1 || n > most) {
            throw new IllegalArgumentException("'" + address + "' lacks the bits of its subnet, 1 to " + most
                    + ": write it as " + (a.isIpv4() ? "10.9.0.2/24" : "fd00:9::2/64"));
        }
        if (!a.isIpv4()) {
            return withAddress(a, n, address);
        }
        if (ipv4 != null) {
            throw new IllegalArgumentException("'" + address + "' is a second address of IPv4, beside " + text(ipv4));
        }
        Ipv4Address i = new Ipv4Address((int) a.low(), n, 0);
        if (!i.isHost(i.address())) {
            throw new IllegalArgumentException("'" + address + "' is not the address of a host");
        }
        return new StackConfig(false, i, ipv6, mac, spin, tcpMemory, vlan);
    }

    private StackConfig withAddress(IpAddress a, int prefix, String text) {
        if (!Ipv6Config.isHost(a)) {
            throw new IllegalArgumentException("'" + text + "' is not the address of a host");
        }
        Ipv6Config c = ipv6 == null ? ALONE : ipv6;
        if (c.addresses().size() == Ipv6Config.MOST) {
            throw new IllegalArgumentException("'" + text + "' is one address of IPv6 more than " + Ipv6Config.MOST);
        }
        List<Ipv6Config.Own> all = new ArrayList<>(c.addresses());
        all.add(new Ipv6Config.Own(a, prefix));
        return with(new Ipv6Config(all, c.gateway(), c.advertisements()));
    }

    private StackConfig with(Ipv6Config c) {
        requireOwn("IPv6");
        return new StackConfig(false, ipv4, c, mac, spin, tcpMemory, vlan);
    }

    /** With a link-local address of IPv6, and those that {@linkplain #withRouterAdvertisements routers tell}. */
    public StackConfig withIpv6() {
        return ipv6 == null ? with(ALONE) : this;
    }

    /**
     * Whether what routers tell of IPv6 counts, as without this: subnets to have an address of each (RFC 4862), and that they know the way to others. Any host
     * of the link can say so.
     */
    public StackConfig withRouterAdvertisements(boolean count) {
        Ipv6Config c = ipv6 == null ? ALONE : ipv6;
        return with(new Ipv6Config(c.addresses(), c.gateway(), count));
    }

    /**
     * The host of the link that forwards packets to all others: one of IPv4, and one of IPv6.
     *
     * @throws IllegalArgumentException if it is not another host of a subnet of this one, or is not link-local
     */
    public StackConfig withGateway(String gateway) {
        requireOwn("gateway");
        IpAddress g = parse(gateway);
        if (g.isIpv4() ? ipv4 == null : ipv6 == null) {
            throw new IllegalArgumentException("the gateway " + gateway + " is of no use without an address of "
                    + (g.isIpv4() ? "IPv4" : "IPv6"));
        }
        if (ipv4 != null && g.isIpv4()) {
            int a = (int) g.low();
            if (!ipv4.isHost(a) || a == ipv4.address() || ipv4.nextHop(a) != a) {
                throw new IllegalArgumentException("the gateway " + gateway + " is not another host of " + text(ipv4));
            }
            return new StackConfig(false, new Ipv4Address(ipv4.address(), ipv4.prefix(), a), ipv6, mac, spin,
                    tcpMemory, vlan);
        }
        Ipv6Config c = ipv6 == null ? ALONE : ipv6;
        if (!Ipv6Config.isHost(g) || c.addresses().stream().anyMatch(o -> o.address().equals(g)) || !g.isLinkLocal()
                && c.addresses().stream().noneMatch(o -> o.isNear(g))) {
            throw new IllegalArgumentException("the gateway " + gateway + " is not another host of " + this
                    + ", nor link-local");
        }
        return with(new Ipv6Config(c.addresses(), g, c.advertisements()));
    }

    /**
     * The Ethernet address, in the low 48 bits. Without this it is the interface's, or of a {@code tap_} device, whose other
     * end has that, 02:56 and the four bytes of the IPv4 address, or without one four that the first of IPv6 gives.
     *
     * @throws IllegalArgumentException if it is 0, of a group, or longer
     */
    public StackConfig withMac(long address48) {
        requireOwn("Ethernet address");
        if (address48 <= 0 || address48 >>> 48 != 0 || EthernetHeader.isGroup(address48)) {
            throw new IllegalArgumentException(Long.toHexString(address48) + " is not the Ethernet address of a host");
        }
        return new StackConfig(shared, ipv4, ipv6, OptionalLong.of(address48), spin, tcpMemory, vlan);
    }

    /**
     * How long a receiver polls the device before it sleeps: without this 20 microseconds, or 0 with one processor. That does the work of the stack's
     * thread, so a datagram is there without a thread that has to wake. 0 for those that wait long.
     *
     * @throws IllegalArgumentException if it is negative or more than a second
     */
    public StackConfig withSpin(Duration time) {
        if (time.isNegative() || time.compareTo(Duration.ofSeconds(1)) > 0) {
            throw new IllegalArgumentException("to poll for " + time + " is not 0 to 1 second");
        }
        return new StackConfig(shared, ipv4, ipv6, mac, time.toNanos(), tcpMemory, vlan);
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
        return new StackConfig(shared, ipv4, ipv6, mac, spin, bytes, vlan);
    }

    /**
     * The virtual LAN (IEEE 802.1Q) of the link that the stack is in: frames that it sends have its tag, with priority 0, and it takes those with its tag alone.
     * The MTU stays the interface's.
     *
     * @throws IllegalArgumentException if it is not 1 to 4094, or with {@link #shared}
     */
    public StackConfig withVlan(int id) {
        requireOwn("virtual LAN");
        if (id < 1 || id > 4094) {
            throw new IllegalArgumentException("a virtual LAN " + id + " is not 1 to 4094");
        }
        return new StackConfig(shared, ipv4, ipv6, mac, spin, tcpMemory, id);
    }

    int vlan() {
        return vlan;
    }

    /** The address of IPv4, or the first of IPv6. */
    InetAddress first() {
        if (ipv4 != null) {
            return IpAddress.ofIpv4(ipv4.address()).toInetAddress();
        }
        if (ipv6 != null && !ipv6.addresses().isEmpty()) {
            return ipv6.addresses().getFirst().address().toInetAddress();
        }
        throw new IllegalStateException("of() has an address");
    }

    long tcpMemory() {
        return tcpMemory;
    }

    private static IpAddress parse(String text) {
        try {
            if (text.matches("[0-9]+([.][0-9]+){3}")) { // the JDK takes fewer numbers, too
                return IpAddress.of(Inet4Address.ofLiteral(text));
            }
            // A scope has no meaning, since there is one link; and the JDK makes IPv4 of the mapped form.
            if (text.indexOf(':') >= 0 && text.indexOf('%') < 0 && InetAddress.ofLiteral(
                    text) instanceof Inet6Address a) {
                return IpAddress.of(a);
            }
        } catch (IllegalArgumentException e) {
            // one of the numbers is too large
        }
        throw new IllegalArgumentException("'" + text + "' is not an address of IPv4 or IPv6");
    }

    @Nullable
    Ipv4Address ipv4() {
        return ipv4;
    }

    @Nullable
    Ipv6Config ipv6() {
        return ipv6;
    }

    long spin() {
        return spin;
    }

    OptionalLong mac() {
        return mac;
    }

    private static String text(Ipv4Address a) {
        return Ipv4Address.text(a.address()) + "/" + a.prefix();
    }

    @Override
    public String toString() {
        if (shared) {
            return "shared with the kernel";
        }
        StringJoiner all = new StringJoiner(" and ");
        if (ipv4 != null) {
            all.add(text(ipv4) + (ipv4.gateway() == 0 ? "" : " via " + Ipv4Address.text(ipv4.gateway())));
        }
        if (ipv6 != null) {
            StringJoiner six = new StringJoiner(", ").setEmptyValue("IPv6");
            ipv6.addresses().forEach(o -> six.add(o.toString()));
            all.add(six + (ipv6.gateway() == null ? "" : " via " + ipv6.gateway()));
        }
        return vlan == 0 ? all.toString() : all + " in VLAN " + vlan;
    }
}
