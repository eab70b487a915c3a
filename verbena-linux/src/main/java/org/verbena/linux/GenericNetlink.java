// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Netlink message families that are found by name: genetlink(7). Stateless and thread-safe. */
public final class GenericNetlink {
    static final int GENL_ID_CTRL = 16;
    static final int GENL_HDRLEN = 4;
    static final int CTRL_CMD_GETFAMILY = 3;
    static final int CTRL_ATTR_FAMILY_ID = 1;
    static final int CTRL_ATTR_FAMILY_NAME = 2;
    static final int CTRL_ATTR_VERSION = 3;
    static final int CTRL_ATTR_OPS = 6;
    static final int CTRL_ATTR_OP_ID = 1;
    private static final int MAX_NAME = 15;

    private GenericNetlink() {}

    /**
     * A family of messages.
     *
     * @param name its name
     * @param id the type of its messages; differs after a restart
     * @param version of its header
     * @param commands the numbers of its commands, in the kernel's order
     */
    public record Family(String name, int id, int version, List<Integer> commands) {
        /** Copies the list. */
        public Family {
            commands = List.copyOf(commands);
        }

        /**
         * Begins a request to the family.
         *
         * @param command its number, 0 to 255
         * @param flags as {@link NetlinkRequest#NetlinkRequest}
         * @return the request, to which attributes are appended
         */
        public NetlinkRequest request(int command, int flags) {
            return GenericNetlink.request(id, command, version, flags);
        }
    }

    /**
     * Looks a family up.
     *
     * @param netlink a socket of {@link Netlink#NETLINK_GENERIC}
     * @param name for instance {@code "netdev"}, at most 15 bytes
     * @return the family, or nothing if the kernel has none of that name
     * @throws LinuxException as {@link Netlink#request}
     */
    public static Optional<Family> family(Netlink netlink, String name) throws LinuxException {
        int length = Args.name(name, MAX_NAME, "the name of a netlink family").length;
        Args.requireBetween(length, 1, MAX_NAME, "the length of a netlink family's name");
        List<NetlinkReply> replies;
        try {
            replies = netlink.request(
                    request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0).attribute(CTRL_ATTR_FAMILY_NAME, name),
                    "netlink CTRL_CMD_GETFAMILY(\"" + name + "\")");
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENOENT) {
                return Optional.empty();
            }
            throw e;
        }
        if (replies.isEmpty()) {
            return Optional.empty();
        }
        int id = 0;
        int version = 1;
        List<Integer> commands = new ArrayList<>();
        for (NetlinkReply.Attribute a : replies.getFirst().attributes(GENL_HDRLEN)) {
            switch (a.type()) {
                case CTRL_ATTR_FAMILY_ID -> id = a.unsignedShort();
                case CTRL_ATTR_VERSION -> version = a.integer() & 0xFF;
                case CTRL_ATTR_OPS -> {
                    for (NetlinkReply.Attribute operation : a.nested()) {
                        for (NetlinkReply.Attribute field : operation.nested()) {
                            if (field.type() == CTRL_ATTR_OP_ID) {
                                commands.add(field.integer());
                            }
                        }
                    }
                }
                default -> {} // the limits and groups of the family
            }
        }
        return Optional.of(new Family(name, id, version, commands));
    }

    private static NetlinkRequest request(int family, int command, int version, int flags) {
        Args.requireBetween(command, 0, 255, "a command of generic netlink");
        byte[] header = ByteBuffer.allocate(GENL_HDRLEN).order(ByteOrder.nativeOrder())
                .put((byte) command).put((byte) version).array(); // struct genlmsghdr
        return new NetlinkRequest(family, flags).append(header);
    }
}
