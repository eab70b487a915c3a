// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * An XDP program that an interface has, whoever has attached it: {@code IFLA_XDP} of rtnetlink(7), and what bpf(2) tells
 * of the program.
 *
 * @param mode {@link #XDP_ATTACHED_DRV}, {@link #XDP_ATTACHED_SKB}, {@link #XDP_ATTACHED_HW} or
 *        {@link #XDP_ATTACHED_MULTI}
 * @param program its number in the kernel, as {@code bpftool prog} has it
 * @param name its name, at most 15 bytes; empty if it has none, or if this process may not ask (CAP_SYS_ADMIN is
 *        missing)
 * @param user the user that has loaded it, or -1 if this process may not ask
 * @param holders processes that have the program or its attachment open, as far as this process may see them; none if
 *        it was attached by netlink or is kept by a file
 */
public record XdpAttachment(int mode, int program, String name, int user, List<Integer> holders) {
    /** The program runs in the driver. */
    public static final int XDP_ATTACHED_DRV = 1;
    /** The program runs in the kernel's own code. */
    public static final int XDP_ATTACHED_SKB = 2;
    /** The program runs in the device. */
    public static final int XDP_ATTACHED_HW = 3;
    /** There are several programs, one for each mode; this is the first of them. */
    public static final int XDP_ATTACHED_MULTI = 4;

    static final int IFLA_XDP = 43;
    static final int IFLA_XDP_ATTACHED = 2;
    static final int IFLA_XDP_PROG_ID = 4;
    static final int IFLA_XDP_DRV_PROG_ID = 5;
    static final int IFLA_XDP_SKB_PROG_ID = 6;
    static final int IFLA_XDP_HW_PROG_ID = 7;
    static final int PROG_INFO_CREATED_BY_UID = 48;
    static final int PROG_INFO_NAME = 64;
    private static final int PROG_INFO_BYTES = 80;

    /** Takes a copy of the processes. */
    public XdpAttachment {
        holders = List.copyOf(holders);
    }

    /**
     * The program of an interface.
     *
     * @param netlink the namespace
     * @param ifindex the interface
     * @return empty if it has none
     * @throws LinuxException {@code ENODEV}, {@code EBADMSG}
     */
    public static Optional<XdpAttachment> of(Netlink netlink, int ifindex) throws LinuxException {
        Args.requireBetween(ifindex, 1, Integer.MAX_VALUE, "the index of an interface");
        String call = "netlink RTM_GETLINK(index " + ifindex + ")";
        byte[] header = new byte[NetworkLinks.IFINFOMSG_BYTES];
        ByteBuffer.wrap(header).order(ByteOrder.nativeOrder()).putInt(NetworkLinks.IFINFOMSG_INDEX, ifindex);
        List<NetlinkReply> replies = netlink.request(new NetlinkRequest(NetworkLinks.RTM_GETLINK, 0).append(header),
                call);
        if (replies.isEmpty()) {
            throw new LinuxException(call, Errno.EBADMSG);
        }
        Optional<NetlinkReply.Attribute> xdp = replies.getFirst().attribute(NetworkLinks.IFINFOMSG_BYTES, IFLA_XDP);
        int mode = 0;
        int program = 0;
        for (NetlinkReply.Attribute a : xdp.isPresent() ? xdp.get().nested() : List.<NetlinkReply.Attribute>of()) {
            switch (a.type()) {
                case IFLA_XDP_ATTACHED -> mode = a.value().remaining() > 0 ? a.value().get(0) : 0;
                case IFLA_XDP_PROG_ID, IFLA_XDP_DRV_PROG_ID, IFLA_XDP_SKB_PROG_ID, IFLA_XDP_HW_PROG_ID ->
                    program = program == 0 ? a.integer() : program;
                default -> { // not needed
                }
            }
        }
        return mode == 0 ? Optional.empty() : Optional.of(describe(mode, program));
    }

    private static XdpAttachment describe(int mode, int program) {
        String name = "";
        int user = -1;
        MemorySegment attributes = Bpf.attributes(); // prog_id 0
        attributes.set(ValueLayout.JAVA_INT, 0, program);
        long result = Bpf.call(Bpf.BPF_PROG_GET_FD_BY_ID);
        if (result >= 0) {
            try (Fd fd = Fd.of((int) result); Arena arena = Arena.ofConfined()) {
                MemorySegment info = Bpf.info(arena, fd, PROG_INFO_BYTES);
                name = Bpf.text(info.asSlice(PROG_INFO_NAME, Bpf.OBJ_NAME_BYTES));
                user = info.get(ValueLayout.JAVA_INT, PROG_INFO_CREATED_BY_UID);
            } catch (LinuxException gone) { // between two calls, or not told: the number alone is known
                name = "";
            }
        }
        return new XdpAttachment(mode, program, name, user, holders(program));
    }

    /** The processes with a descriptor whose {@code fdinfo} has the program's number: of itself, or of its attachment. */
    private static List<Integer> holders(int program) {
        List<Integer> found = new ArrayList<>();
        String line = "prog_id:\t" + program;
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : processes) {
                if (holds(process, line)) {
                    found.add(Integer.parseInt(String.valueOf(process.getFileName())));
                }
            }
        } catch (IOException e) { // no proc(5): nobody is known
            return List.of();
        }
        return found;
    }

    private static boolean holds(Path process, String line) {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                String what = link(descriptor);
                if (what.contains("bpf") && Files.readAllLines(process.resolve("fdinfo").resolve(String.valueOf(
                        descriptor.getFileName()))).contains(line)) {
                    return true;
                }
            }
        } catch (IOException e) { // it has ended, or belongs to another user
            return false;
        }
        return false;
    }

    private static String link(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException closed) {
            return "";
        }
    }

    /** A clause for a message: which program, in which mode, of whom. */
    public String describe() {
        String how = switch (mode) {
            case XDP_ATTACHED_DRV -> "native";
            case XDP_ATTACHED_SKB -> "generic";
            case XDP_ATTACHED_HW -> "hardware";
            default -> "several modes";
        };
        return "XDP program " + program + (name.isEmpty() ? "" : " \"" + name + "\"") + " (" + how + (user < 0
                ? ""
                : ", loaded by user " + user)
                + (holders.isEmpty()
                        ? ""
                        : ", held by process " + holders.stream().map(String::valueOf).collect(
                                Collectors.joining(", "))) + ")";
    }
}
