// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What the kernel knows of an attachment of {@link Bpf#attach}.
 *
 * @param id its number in the kernel, as {@code bpftool link} has it
 * @param program the number of its program
 * @param ifindex the interface, in the namespace where that is; 0 once it is gone
 */
public record BpfLink(int id, int program, int ifindex) {
    static final int INFO_TYPE = 0;
    static final int INFO_ID = 4;
    static final int INFO_PROGRAM = 8;
    static final int INFO_XDP_IFINDEX = 16;
    static final int BPF_LINK_TYPE_XDP = 6;
    private static final int INFO_BYTES = 32;

    /**
     * Asks for an attachment.
     *
     * @param link its descriptor
     * @throws LinuxException {@code EINVAL} (none of an XDP program)
     */
    public static BpfLink of(Fd link) throws LinuxException {
        String kind = Bpf.kind(link);
        if (!kind.replace('-', '_').equals("anon_inode:bpf_link")) { // of programs and tables the same call tells other things
            throw new LinuxException("bpf(BPF_OBJ_GET_INFO_BY_FD)", Errno.EINVAL, "not an attachment but " + kind);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = Bpf.info(arena, link, INFO_BYTES);
            if (info.get(ValueLayout.JAVA_INT, INFO_TYPE) != BPF_LINK_TYPE_XDP) {
                throw new LinuxException("bpf(BPF_OBJ_GET_INFO_BY_FD)", Errno.EINVAL,
                        "not the attachment of an XDP program");
            }
            return new BpfLink(info.get(ValueLayout.JAVA_INT, INFO_ID), info.get(ValueLayout.JAVA_INT, INFO_PROGRAM),
                    info.get(ValueLayout.JAVA_INT, INFO_XDP_IFINDEX));
        }
    }

    /**
     * Opens an attachment that some process holds: {@code BPF_LINK_GET_FD_BY_ID}.
     *
     * @param id its number
     * @return a descriptor of its own
     * @throws LinuxException {@code ENOENT} (there is none), {@code EPERM} (CAP_SYS_ADMIN is missing), {@code EMFILE}
     */
    public static Fd open(int id) throws LinuxException {
        MemorySegment a = Bpf.attributes();
        a.set(ValueLayout.JAVA_INT, 0, id);
        return Fd.ofResult(Bpf.call(Bpf.BPF_LINK_GET_FD_BY_ID), "bpf(BPF_LINK_GET_FD_BY_ID, " + id + ")");
    }
}
