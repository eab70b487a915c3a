// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Programs in the kernel: bpf(2). Stateless and thread-safe.
 *
 * <p>An instruction is 8 bytes, here a {@code long} with the code in its lowest byte; {@link #instruction} makes one.
 */
public final class Bpf {
    /** Programs that see each packet that an interface receives. */
    public static final int BPF_PROG_TYPE_XDP = 6;
    /** Where {@link #attach} attaches a program of {@link #BPF_PROG_TYPE_XDP}. */
    public static final int BPF_XDP = 37;
    /** Passes the packet to the kernel's network stack. */
    public static final int XDP_PASS = 2;
    /** The program runs in the kernel's own code, for interfaces whose driver has none. */
    public static final int XDP_FLAGS_SKB_MODE = 2;
    /** The program runs in the driver. */
    public static final int XDP_FLAGS_DRV_MODE = 4;

    static final int BPF_MAP_CREATE = 0;
    static final int BPF_MAP_LOOKUP_ELEM = 1;
    static final int BPF_MAP_UPDATE_ELEM = 2;
    static final int BPF_PROG_LOAD = 5;
    static final int BPF_PROG_TEST_RUN = 10;
    static final int BPF_LINK_CREATE = 28;

    static final int MAP_KEY_SIZE = 4;
    static final int MAP_VALUE_SIZE = 8;
    static final int MAP_MAX_ENTRIES = 12;
    static final int ELEMENT_KEY = 8;
    static final int ELEMENT_VALUE = 16;
    static final int PROG_INSN_CNT = 4;
    static final int PROG_INSNS = 8;
    static final int PROG_LICENSE = 16;
    static final int PROG_LOG_LEVEL = 24;
    static final int PROG_LOG_SIZE = 28;
    static final int PROG_LOG_BUF = 32;
    static final int TEST_RETVAL = 4;
    static final int TEST_DATA_SIZE_IN = 8;
    static final int TEST_DATA_IN = 16;
    static final int TEST_REPEAT = 32;
    static final int LINK_TARGET_IFINDEX = 4;
    static final int LINK_ATTACH_TYPE = 8;
    static final int LINK_FLAGS = 12;

    private static final int ATTRIBUTE_BYTES = 80;
    private static final int LOG_BYTES = 16 << 10;
    private static final int MAX_INSTRUCTIONS = 4096;
    private static final int MAX_PACKET = 2048;
    private static final int MIN_PACKET = 14;

    private Bpf() {}

    /**
     * An instruction, {@code struct bpf_insn}.
     *
     * @param code the operation, 0 to 255
     * @param destination a register, 0 to 10
     * @param source a register, 0 to 10, or another number of 4 bits that the operation defines
     * @param offset 16 bits with sign
     * @param immediate 32 bits
     * @return the instruction
     */
    public static long instruction(int code, int destination, int source, int offset, int immediate) {
        Args.requireBetween(code, 0, 255, "the code of an instruction");
        Args.requireBetween(destination, 0, 10, "a register");
        Args.requireBetween(source, 0, 15, "a source");
        Args.requireBetween(offset, Short.MIN_VALUE, Short.MAX_VALUE, "an offset");
        return code | (long) destination << 8 | (long) source << 12 | (offset & 0xFFFFL) << 16
                | (long) immediate << 32;
    }

    /**
     * Loads a program; the kernel verifies it.
     *
     * @param type for instance {@link #BPF_PROG_TYPE_XDP}
     * @param instructions 1 to 4096
     * @param license as the kernel names it; some kernel functions are for {@code "GPL"} only
     * @return the program, which exists until its last descriptor and use are gone
     * @throws LinuxException {@code EPERM} (CAP_BPF, and for XDP also CAP_NET_ADMIN, are missing), {@code EACCES} and
     *         {@code EINVAL} (rejected by the verifier, whose last sentence is in the message), {@code ENOSYS},
     *         {@code EMFILE}
     */
    public static Fd load(int type, long[] instructions, String license) throws LinuxException {
        Args.requireBetween(instructions.length, 1, MAX_INSTRUCTIONS, "the length of a program");
        byte[] name = Args.name(license, 127, "a license");
        try (Arena arena = Arena.ofConfined()) {
            long textAt = instructions.length * 8L;
            long logAt = textAt + 128;
            MemorySegment memory = arena.allocate(logAt + LOG_BYTES, 8);
            MemorySegment.copy(instructions, 0, memory, ValueLayout.JAVA_LONG, 0, instructions.length);
            MemorySegment.copy(name, 0, memory, ValueLayout.JAVA_BYTE, textAt, name.length);
            String call = "bpf(BPF_PROG_LOAD, type " + type + ")";
            long result = load(type, instructions.length, memory, textAt, 0, 0);
            if (result == -Errno.EACCES || result == -Errno.EINVAL) { // once more, for the verifier's log
                long again = load(type, instructions.length, memory, textAt, logAt, LOG_BYTES);
                String log = text(memory.asSlice(logAt, LOG_BYTES));
                if (again < 0 && !log.isEmpty()) {
                    throw new LinuxException(call, (int) -again, "verifier: " + log);
                }
                result = again;
            }
            return Fd.ofResult(result, call);
        }
    }

    private static long load(int type, int count, MemorySegment memory, long licenseAt, long logAt, int logBytes) {
        MemorySegment a = attributes();
        a.set(ValueLayout.JAVA_INT, 0, type);
        a.set(ValueLayout.JAVA_INT, PROG_INSN_CNT, count);
        a.set(ValueLayout.JAVA_LONG, PROG_INSNS, memory.address());
        a.set(ValueLayout.JAVA_LONG, PROG_LICENSE, memory.address() + licenseAt);
        if (logBytes > 0) {
            a.set(ValueLayout.JAVA_INT, PROG_LOG_LEVEL, 1);
            a.set(ValueLayout.JAVA_INT, PROG_LOG_SIZE, logBytes);
            a.set(ValueLayout.JAVA_LONG, PROG_LOG_BUF, memory.address() + logAt);
        }
        return call(memory, BPF_PROG_LOAD);
    }

    /** The last sentence of a log, which states the error. */
    private static String text(MemorySegment log) {
        byte[] bytes = log.toArray(ValueLayout.JAVA_BYTE);
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8).lines()
                .filter(l -> !l.isBlank() && !l.startsWith("processed ")).reduce("", (before, line) -> line);
    }

    /**
     * Runs a program once on a packet that no interface has received.
     *
     * @param program a program of {@link #BPF_PROG_TYPE_XDP}
     * @param packet 14 to 2048 bytes
     * @return what the program returned, for instance {@link #XDP_PASS}
     * @throws LinuxException {@code EPERM}, {@code EOPNOTSUPP} (not programs of its type)
     */
    public static int testRun(Fd program, byte[] packet) throws LinuxException {
        Args.requireBetween(packet.length, MIN_PACKET, MAX_PACKET, "the length of a packet");
        int number = program.value();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(packet.length, 8);
            MemorySegment.copy(packet, 0, memory, ValueLayout.JAVA_BYTE, 0, packet.length);
            MemorySegment a = attributes();
            a.set(ValueLayout.JAVA_INT, 0, number);
            a.set(ValueLayout.JAVA_INT, TEST_DATA_SIZE_IN, packet.length);
            a.set(ValueLayout.JAVA_LONG, TEST_DATA_IN, memory.address());
            a.set(ValueLayout.JAVA_INT, TEST_REPEAT, 1);
            Args.check(call(memory, BPF_PROG_TEST_RUN), "bpf(BPF_PROG_TEST_RUN)");
            return a.get(ValueLayout.JAVA_INT, TEST_RETVAL);
        }
    }

    /**
     * Attaches a program to an interface.
     *
     * @param program a program of {@link #BPF_PROG_TYPE_XDP}
     * @param ifindex the interface, in the network namespace of the calling thread
     * @param flags {@link #XDP_FLAGS_SKB_MODE}, {@link #XDP_FLAGS_DRV_MODE}, or 0 for the kernel's choice
     * @return the attachment, which ends when this is closed
     * @throws LinuxException {@code EPERM}, {@code EBUSY} and {@code EEXIST} (another program is attached),
     *         {@code ENODEV}, {@code EOPNOTSUPP} (not in that mode), {@code EINVAL} (Linux 5.9 is needed)
     */
    public static Fd attach(Fd program, int ifindex, int flags) throws LinuxException {
        Args.requireBetween(ifindex, 1, Integer.MAX_VALUE, "the index of an interface");
        int number = program.value();
        MemorySegment a = attributes();
        a.set(ValueLayout.JAVA_INT, 0, number);
        a.set(ValueLayout.JAVA_INT, LINK_TARGET_IFINDEX, ifindex);
        a.set(ValueLayout.JAVA_INT, LINK_ATTACH_TYPE, BPF_XDP);
        a.set(ValueLayout.JAVA_INT, LINK_FLAGS, flags);
        return Fd.ofResult(call(BPF_LINK_CREATE), "bpf(BPF_LINK_CREATE, XDP, interface " + ifindex + ", flags " + flags
                + ")");
    }

    /** union bpf_attr, all zero, in the thread's scratch memory: valid until its next call. */
    static MemorySegment attributes() {
        return Native.scratch().memory().asSlice(0, ATTRIBUTE_BYTES).fill((byte) 0);
    }

    static long call(int command) {
        return call(MemorySegment.NULL, command);
    }

    /** Makes the call with the contents of {@link #attributes()}; the segment stays reachable and open meanwhile. */
    static long call(MemorySegment held, int command) {
        long result;
        do {
            result = Native.call(held, SyscallNumber.BPF, command, Native.scratch().address(), ATTRIBUTE_BYTES, 0, 0,
                    0);
        } while (result == -Errno.EINTR || (result == -Errno.EAGAIN && command == BPF_PROG_LOAD));
        return result;
    }
}
