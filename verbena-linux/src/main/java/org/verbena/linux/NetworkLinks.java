package org.verbena.linux;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Network interfaces of the namespace that a {@link Netlink#NETLINK_ROUTE} socket belongs to: rtnetlink(7). Making and
 * changing them needs CAP_NET_ADMIN there. Stateless; the socket is used by one thread at a time.
 */
public final class NetworkLinks {
    static final int RTM_NEWLINK = 16;
    static final int RTM_DELLINK = 17;
    static final int RTM_GETLINK = 18;
    static final int IFLA_IFNAME = 3;
    static final int IFLA_LINKINFO = 18;
    static final int IFLA_INFO_KIND = 1;
    static final int IFLA_INFO_DATA = 2;
    static final int VETH_INFO_PEER = 1;
    static final int IFF_UP = 1;
    static final int IFINFOMSG_BYTES = 16;
    static final int IFINFOMSG_INDEX = 4;
    static final int IFINFOMSG_FLAGS = 8;
    static final int IFINFOMSG_CHANGE = 12;
    private static final int MAX_NAME = 15;

    private NetworkLinks() {}

    /**
     * Makes two interfaces, each of which receives what the other one sends: veth(4).
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
