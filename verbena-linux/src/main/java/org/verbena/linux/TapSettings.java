// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a TAP or TUN interface was made as, and who may open it: {@code IFLA_INFO_DATA} of rtnetlink(7), Linux 4.18.
 *
 * @param tap whether it is for Ethernet frames, and not for IP packets
 * @param owner the user who may open it; empty for none
 * @param group the group that may; empty for none
 * @param persistent whether it stays when nobody has it open
 * @param multiQueue whether it is for several queues
 * @param on whether it is switched on; that it has a carrier needs somebody who has it open
 */
public record TapSettings(boolean tap, OptionalInt owner, OptionalInt group, boolean persistent, boolean multiQueue,
        boolean on) {
    /** What is opened, before an interface is. */
    public static final Path DEVICE = Path.of("/dev/net/tun");

    static final int IFLA_TUN_OWNER = 1;
    static final int IFLA_TUN_GROUP = 2;
    static final int IFLA_TUN_TYPE = 3;
    static final int IFLA_TUN_PERSIST = 6;
    static final int IFLA_TUN_MULTI_QUEUE = 7;
    private static final long CAP_NET_ADMIN = 1L << 12;
    private static final int EFFECTIVE = 1;
    private static final Path STATUS = Path.of("/proc/thread-self/status");

    /**
     * The settings of an interface.
     *
     * @param netlink the namespace
     * @param index the interface
     * @return empty if it is neither TAP nor TUN
     * @throws LinuxException {@code ENODEV}, {@code EBADMSG}
     */
    public static Optional<TapSettings> of(Netlink netlink, int index) throws LinuxException {
        String call = "netlink RTM_GETLINK(index " + index + ")";
        byte[] header = ByteBuffer.allocate(NetworkLinks.IFINFOMSG_BYTES).order(ByteOrder.nativeOrder()).putInt(
                NetworkLinks.IFINFOMSG_INDEX, index).array();
        List<NetlinkReply> replies = netlink.request(new NetlinkRequest(NetworkLinks.RTM_GETLINK, 0).append(header),
                call);
        if (replies.isEmpty() || replies.getFirst().payload().remaining() < NetworkLinks.IFINFOMSG_BYTES) {
            throw new LinuxException(call, Errno.EBADMSG);
        }
        NetlinkReply reply = replies.getFirst();
        boolean on = (reply.payload().getInt(NetworkLinks.IFINFOMSG_FLAGS) & NetworkLinks.IFF_UP) != 0;
        String kind = "";
        Map<Integer, NetlinkReply.Attribute> data = new HashMap<>();
        for (NetlinkReply.Attribute a : reply.attributes(NetworkLinks.IFINFOMSG_BYTES)) {
            if (a.type() == NetworkLinks.IFLA_LINKINFO) {
                for (NetlinkReply.Attribute n : a.nested()) {
                    kind = n.type() == NetworkLinks.IFLA_INFO_KIND ? n.text() : kind;
                    if (n.type() == NetworkLinks.IFLA_INFO_DATA) {
                        n.nested().forEach(d -> data.put(d.type(), d));
                    }
                }
            }
        }
        if (!kind.equals("tun")) {
            return Optional.empty();
        }
        return Optional.of(new TapSettings(octet(data, IFLA_TUN_TYPE) == Tap.IFF_TAP, number(data, IFLA_TUN_OWNER),
                number(data, IFLA_TUN_GROUP), octet(data, IFLA_TUN_PERSIST) != 0, octet(data,
                        IFLA_TUN_MULTI_QUEUE) != 0,
                on));
    }

    private static int octet(Map<Integer, NetlinkReply.Attribute> data, int type) {
        NetlinkReply.Attribute a = data.get(type);
        return a != null && a.value().hasRemaining() ? a.value().get(a.value().position()) : 0;
    }

    private static OptionalInt number(Map<Integer, NetlinkReply.Attribute> data, int type) throws LinuxException {
        NetlinkReply.Attribute a = data.get(type);
        return a == null ? OptionalInt.empty() : OptionalInt.of(a.integer());
    }

    /** Whether this process may read and write {@link #DEVICE}. */
    public static boolean isDeviceOpen() {
        return Files.isReadable(DEVICE) && Files.isWritable(DEVICE);
    }

    /** Whether the calling thread may open the interface, as far as its owner and group say: {@code TUNSETIFF}. */
    public boolean isAllowed() {
        if (owner.isEmpty() && group.isEmpty()) {
            return true;
        }
        Map<String, String[]> status = status();
        long capabilities = 0;
        try {
            capabilities = Long.parseUnsignedLong(status.getOrDefault("CapEff", new String[] {"0"})[0], 16);
        } catch (NumberFormatException unknown) {
            assert unknown != null; // none, then
        }
        return (capabilities & CAP_NET_ADMIN) != 0 || is(status, "Uid", owner) && (is(status, "Gid", group) || Arrays
                .asList(status.getOrDefault("Groups", new String[0])).contains(text(group)));
    }

    private static String text(OptionalInt id) {
        return id.isPresent() ? Integer.toUnsignedString(id.getAsInt()) : "";
    }

    private static boolean is(Map<String, String[]> status, String line, OptionalInt id) {
        String[] ids = status.getOrDefault(line, new String[0]);
        return id.isEmpty() || ids.length > EFFECTIVE && ids[EFFECTIVE].equals(text(id));
    }

    private static Map<String, String[]> status() {
        Map<String, String[]> lines = new HashMap<>();
        try {
            for (String line : Files.readAllLines(STATUS)) {
                int colon = line.indexOf(':');
                if (colon > 0) {
                    lines.put(line.substring(0, colon), line.substring(colon + 1).strip().split("\\s+", -1));
                }
            }
        } catch (IOException | SecurityException unknown) {
            lines.clear();
        }
        return lines;
    }
}
