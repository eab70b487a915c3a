// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Network interfaces, in the namespace of a {@link Netlink#NETLINK_ROUTE} socket: rtnetlink(7). Creating and changing
 * them needs CAP_NET_ADMIN there. Stateless; the socket is used by one thread at a time.
 */
public final class NetworkLinks {
    static final int RTM_NEWLINK = 16;
    static final int RTM_DELLINK = 17;
    static final int RTM_GETLINK = 18;
    static final int IFLA_ADDRESS = 1;
    static final int IFLA_IFNAME = 3;
    static final int IFLA_MTU = 4;
    static final int IFLA_LINKINFO = 18;
    static final int IFLA_NET_NS_FD = 28;
    static final int IFLA_INFO_KIND = 1;
    static final int IFLA_INFO_DATA = 2;
    static final int VETH_INFO_PEER = 1;
    static final int IFF_UP = 1;
    static final int IFF_LOOPBACK = 8;
    static final int IFF_RUNNING = 0x40;
    static final int IFINFOMSG_BYTES = 16;
    static final int IFINFOMSG_INDEX = 4;
    static final int IFINFOMSG_FLAGS = 8;
    static final int IFINFOMSG_CHANGE = 12;
    private static final int MAX_NAME = 15;

    static final int IFINFOMSG_TYPE = 2;
    static final int ARPHRD_ETHER = 1;
    static final int ARPHRD_LOOPBACK = 772;

    private NetworkLinks() {}

    /** The interface that a message of {@link NetlinkEvents} is about, unless that is of {@link NetlinkEvents#ROUTES}; 0 if it says none. */
    public static int interfaceOf(NetlinkReply m) { // in struct ifinfomsg, ifaddrmsg and ndmsg at the same place
        return m.payload().remaining() >= IFINFOMSG_INDEX + 4 ? m.payload().getInt(IFINFOMSG_INDEX) : 0;
    }

    /** Whether a message of {@link NetlinkEvents} tells of an interface that is new, has changed or is gone. */
    public static boolean isChange(NetlinkReply m) {
        return m.type() == RTM_NEWLINK || m.type() == RTM_DELLINK;
    }

    /**
     * An interface.
     *
     * @param index 1 or more
     * @param name at most 15 bytes
     * @param mtu bytes of the longest IP packet
     * @param up whether it is switched on, and has a carrier
     * @param loopback whether it is the loopback interface
     * @param hardwareAddress of Ethernet: 6 bytes; may be empty
     */
    public record Link(int index, String name, int mtu, boolean up, boolean loopback, List<Byte> hardwareAddress) {
        /** The universal/local bit of an EUI-64. */
        private static final long LOCAL_BIT = 0x0200_0000_0000_0000L;

        /**
         * A name of the interface for the world: EUI-64 of its hardware address, or without one a locally administered
         * one of its index.
         *
         * @return as in a GUID of InfiniBand, the first byte in the most significant one
         */
        public long eui64() {
            if (hardwareAddress.size() != 6 || hardwareAddress.stream().allMatch(b -> b == 0)) {
                return 0x0200_00ff_fe00_0000L | index;
            }
            long id = 0;
            for (int i = 0; i < 6; i++) {
                id = id << 8 | hardwareAddress.get(i) & 0xff;
                id = i == 2 ? id << 16 | 0xfffe : id;
            }
            return id ^ LOCAL_BIT;
        }

        /** In the low 48 bits; 0 without one. */
        public long ethernetAddress() {
            long mac = 0;
            for (byte b : hardwareAddress) {
                mac = mac << 8 | b & 0xff;
            }
            return hardwareAddress.size() == 6 ? mac : 0;
        }

        /** The Ethernet address, in the low 48 bits, that an {@link #eui64} was made of. */
        public static long ethernetAddress(long eui64) {
            long universal = eui64 ^ LOCAL_BIT;
            return universal >>> 40 << 24 | universal & 0xff_ffff;
        }
    }

    /**
     * All interfaces.
     *
     * @param netlink the namespace
     * @return in the kernel's order
     * @throws LinuxException {@code EBADMSG}, {@code ETIMEDOUT}
     */
    public static List<Link> list(Netlink netlink) throws LinuxException {
        String call = "netlink RTM_GETLINK";
        List<Link> all = new ArrayList<>();
        for (NetlinkReply reply : netlink.request(new NetlinkRequest(RTM_GETLINK, NetlinkRequest.NLM_F_DUMP).append(
                header(0, 0, 0)), call)) {
            ByteBuffer fixed = reply.payload();
            if (reply.type() != RTM_NEWLINK || fixed.remaining() < IFINFOMSG_BYTES) {
                throw new LinuxException(call, Errno.EBADMSG);
            }
            int flags = fixed.getInt(IFINFOMSG_FLAGS);
            String name = "";
            int mtu = 0;
            List<Byte> address = new ArrayList<>();
            for (NetlinkReply.Attribute a : reply.attributes(IFINFOMSG_BYTES)) {
                switch (a.type()) {
                    case IFLA_IFNAME -> name = a.text();
                    case IFLA_MTU -> mtu = a.integer();
                    case IFLA_ADDRESS -> {
                        for (ByteBuffer b = a.value().duplicate(); b.hasRemaining();) {
                            address.add(b.get());
                        }
                    }
                    default -> { // not needed
                    }
                }
            }
            all.add(new Link(fixed.getInt(IFINFOMSG_INDEX), name, mtu, (flags & IFF_UP) != 0 && (flags
                    & IFF_RUNNING) != 0, (flags & IFF_LOOPBACK) != 0, List.copyOf(address)));
        }
        return all;
    }

    /**
     * What an interface is.
     *
     * @param kind of a virtual one, for instance {@code "veth"}, {@code "tun"} (TAP, too) or {@code "macvlan"}; empty for
     *        hardware, and for the loopback interface
     * @param ethernet whether its packets are Ethernet frames, as those of the loopback interface are
     * @param loopback whether it is the loopback interface
     */
    public record Kind(String kind, boolean ethernet, boolean loopback) {
        /** Whether there is no hardware behind it. */
        public boolean isVirtual() {
            return loopback || !kind.isEmpty();
        }
    }

    /**
     * What an interface is.
     *
     * @param netlink the namespace
     * @param index the interface
     * @throws LinuxException {@code ENODEV}, {@code EBADMSG}
     */
    public static Kind kind(Netlink netlink, int index) throws LinuxException {
        String call = "netlink RTM_GETLINK(index " + index + ")";
        List<NetlinkReply> replies = netlink.request(new NetlinkRequest(RTM_GETLINK, 0).append(header(index(index), 0,
                0)), call);
        if (replies.isEmpty() || replies.getFirst().payload().remaining() < IFINFOMSG_BYTES) {
            throw new LinuxException(call, Errno.EBADMSG);
        }
        NetlinkReply reply = replies.getFirst();
        int type = Short.toUnsignedInt(reply.payload().getShort(IFINFOMSG_TYPE));
        String kind = "";
        for (NetlinkReply.Attribute a : reply.attributes(IFINFOMSG_BYTES)) {
            if (a.type() == IFLA_LINKINFO) {
                for (NetlinkReply.Attribute n : a.nested()) {
                    kind = n.type() == IFLA_INFO_KIND ? n.text() : kind;
                }
            }
        }
        return new Kind(kind, type == ARPHRD_ETHER || type == ARPHRD_LOOPBACK, type == ARPHRD_LOOPBACK);
    }

    /**
     * Switches an interface off.
     *
     * @param netlink the namespace
     * @param index the interface
     * @throws LinuxException {@code EPERM}, {@code ENODEV}
     */
    public static void setDown(Netlink netlink, int index) throws LinuxException {
        netlink.request(new NetlinkRequest(RTM_NEWLINK, 0).append(header(index(index), 0, IFF_UP)),
                "netlink RTM_NEWLINK(index " + index + ", down)");
    }

    /**
     * Creates two interfaces, each of which receives what the other one sends: veth(4).
     *
     * @param netlink the namespace
     * @param one a name of at most 15 bytes that no interface has
     * @param other another one
     * @throws LinuxException {@code EPERM}, {@code EEXIST}, {@code EOPNOTSUPP} (the kernel has no veth)
     */
    public static void createVeth(Netlink netlink, String one, String other) throws LinuxException {
        NetlinkRequest request = new NetlinkRequest(RTM_NEWLINK, NetlinkRequest.NLM_F_CREATE
                | NetlinkRequest.NLM_F_EXCL).append(header(0, 0, 0)).attribute(IFLA_IFNAME, name(one));
        request.nest(IFLA_LINKINFO, () -> request.attribute(IFLA_INFO_KIND, "veth").nest(IFLA_INFO_DATA,
                () -> request.nest(VETH_INFO_PEER, () -> request.append(header(0, 0, 0)).attribute(IFLA_IFNAME,
                        name(other)))));
        netlink.request(request, "netlink RTM_NEWLINK(veth \"" + one + "\", \"" + other + "\")");
    }

    /**
     * The index of an interface.
     *
     * @param netlink the namespace
     * @param name its name
     * @return 1 or more
     * @throws LinuxException {@code ENODEV}
     */
    public static int index(Netlink netlink, String name) throws LinuxException {
        String call = "netlink RTM_GETLINK(\"" + name + "\")";
        List<NetlinkReply> replies = netlink.request(
                new NetlinkRequest(RTM_GETLINK, 0).append(header(0, 0, 0)).attribute(IFLA_IFNAME, name(name)), call);
        if (replies.isEmpty() || replies.getFirst().payload().remaining() < IFINFOMSG_BYTES) {
            throw new LinuxException(call, Errno.EBADMSG);
        }
        return replies.getFirst().payload().getInt(IFINFOMSG_INDEX);
    }

    /**
     * Switches an interface on.
     *
     * @param netlink the namespace
     * @param index the interface
     * @throws LinuxException {@code EPERM}, {@code ENODEV}
     */
    public static void setUp(Netlink netlink, int index) throws LinuxException {
        netlink.request(new NetlinkRequest(RTM_NEWLINK, 0).append(header(index(index), IFF_UP, IFF_UP)),
                "netlink RTM_NEWLINK(index " + index + ", up)");
    }

    /**
     * Sets the MTU of an interface.
     *
     * @param netlink the namespace
     * @param index the interface
     * @param bytes without the link's own header
     * @throws LinuxException {@code EPERM}, {@code ENODEV}, {@code EINVAL} (more or fewer than the interface can have)
     */
    public static void setMtu(Netlink netlink, int index, int bytes) throws LinuxException {
        netlink.request(new NetlinkRequest(RTM_NEWLINK, 0).append(header(index(index), 0, 0)).attribute(IFLA_MTU,
                bytes),
                "netlink RTM_NEWLINK(index " + index + ", mtu " + bytes + ")");
    }

    /**
     * Gives an interface another name.
     *
     * @param index of one that is switched off: up to Linux 6.2 no other can be renamed
     * @throws LinuxException {@code EEXIST} (another one has the name), {@code EBUSY} (switched on), {@code EPERM},
     *         {@code ENODEV}
     * @throws IllegalArgumentException if it is no name for an interface
     */
    public static void rename(Netlink netlink, int index, String name) throws LinuxException {
        netlink.request(new NetlinkRequest(RTM_NEWLINK, 0).append(header(index(index), 0, 0)).attribute(IFLA_IFNAME,
                name(name)),
                "netlink RTM_NEWLINK(index " + index + ", name " + name + ")");
    }

    /**
     * Moves an interface to another namespace, which switches it off and removes its addresses.
     *
     * @param netlink the namespace that it is in
     * @param index the interface
     * @param namespace the target: see {@link NetworkNamespace#open}
     * @throws LinuxException {@code EPERM}, {@code ENODEV}, {@code EINVAL} (not one that can be moved)
     */
    public static void move(Netlink netlink, int index, Fd namespace) throws LinuxException {
        netlink.request(new NetlinkRequest(RTM_NEWLINK, 0).append(header(index(index), 0, 0)).attribute(IFLA_NET_NS_FD,
                namespace.value()), "netlink RTM_NEWLINK(index " + index + ", to another namespace)");
    }

    /**
     * Removes an interface; of a pair, both.
     *
     * @param netlink the namespace
     * @param index the interface
     * @throws LinuxException {@code EPERM}, {@code ENODEV}, {@code EOPNOTSUPP} (not one that can be removed)
     */
    public static void delete(Netlink netlink, int index) throws LinuxException {
        netlink.request(new NetlinkRequest(RTM_DELLINK, 0).append(header(index(index), 0, 0)),
                "netlink RTM_DELLINK(index " + index + ")");
    }

    private static int index(int index) {
        Args.requireBetween(index, 1, Integer.MAX_VALUE, "the index of an interface");
        return index;
    }

    private static String name(String name) {
        Args.requireBetween(Args.name(name, MAX_NAME, "the name of an interface").length, 1, MAX_NAME,
                "the length of an interface's name");
        return name;
    }

    /** struct ifinfomsg {u8 family; u16 type; i32 index; u32 flags; u32 change;}. */
    private static byte[] header(int index, int flags, int change) {
        return ByteBuffer.allocate(IFINFOMSG_BYTES).order(ByteOrder.nativeOrder()).putInt(IFINFOMSG_INDEX, index)
                .putInt(IFINFOMSG_FLAGS, flags).putInt(IFINFOMSG_CHANGE, change).array();
    }
}
