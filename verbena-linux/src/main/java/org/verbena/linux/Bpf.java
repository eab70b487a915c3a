// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Programs in the kernel: bpf(2). Stateless and thread-safe.
 *
 * <p>An instruction is 8 bytes, here a {@code long} with the code in its lowest byte; {@link #instruction} makes one.
 */
public final class Bpf {
    /** Programs that say how much of a packet a socket gets, for instance a {@link PacketCapture}. */
    public static final int BPF_PROG_TYPE_SOCKET_FILTER = 1;
    /** Programs that classify packets on their way in or out. */
    public static final int BPF_PROG_TYPE_SCHED_CLS = 3;
    /** Programs that see each packet that an interface receives. */
    public static final int BPF_PROG_TYPE_XDP = 6;
    /** Where {@link #attach} attaches a program of {@link #BPF_PROG_TYPE_XDP}. */
    public static final int BPF_XDP = 37;
    /** What an XDP program returns: the packet is dropped, as after an error in the program. */
    public static final int XDP_ABORTED = 0;
    /** What an XDP program returns: the packet is dropped. */
    public static final int XDP_DROP = 1;
    /** Passes the packet to the kernel's network stack. */
    public static final int XDP_PASS = 2;
    /** What an XDP program returns: the packet leaves by the interface that it came from. */
    public static final int XDP_TX = 3;
    /** What an XDP program returns: the packet goes where the program said, for instance to an {@link Xsk}. */
    public static final int XDP_REDIRECT = 4;
    /** A flag of {@link #load(int, long[], String, String, int)}: packets may consist of several buffers (Linux 5.18). */
    public static final int BPF_F_XDP_HAS_FRAGS = 32;
    /** The program runs in the kernel's own code, for interfaces whose driver has none. */
    public static final int XDP_FLAGS_SKB_MODE = 2;
    /** The program runs in the driver. */
    public static final int XDP_FLAGS_DRV_MODE = 4;

    static final int BPF_MAP_CREATE = 0;
    static final int BPF_MAP_LOOKUP_ELEM = 1;
    static final int BPF_MAP_UPDATE_ELEM = 2;
    static final int BPF_MAP_DELETE_ELEM = 3;
    static final int BPF_MAP_GET_NEXT_KEY = 4;
    static final int BPF_PROG_LOAD = 5;
    static final int BPF_OBJ_PIN = 6;
    static final int BPF_OBJ_GET = 7;
    static final int BPF_PROG_TEST_RUN = 10;
    static final int BPF_PROG_GET_FD_BY_ID = 13;
    static final int BPF_OBJ_GET_INFO_BY_FD = 15;
    static final int BPF_MAP_LOOKUP_BATCH = 24;
    static final int BPF_LINK_CREATE = 28;
    static final int BPF_LINK_UPDATE = 29;
    static final int BPF_LINK_GET_FD_BY_ID = 30;

    static final int MAP_KEY_SIZE = 4;
    static final int MAP_VALUE_SIZE = 8;
    static final int MAP_MAX_ENTRIES = 12;
    static final int ELEMENT_KEY = 8;
    static final int ELEMENT_VALUE = 16;
    static final int ELEMENT_FLAGS = 24;
    static final int MAP_FLAGS = 16;
    static final int MAP_INNER_FD = 20;
    static final int MAP_NAME = 28;
    static final int PROG_INSN_CNT = 4;
    static final int PROG_INSNS = 8;
    static final int PROG_LICENSE = 16;
    static final int PROG_LOG_LEVEL = 24;
    static final int PROG_LOG_SIZE = 28;
    static final int PROG_LOG_BUF = 32;
    static final int PROG_FLAGS = 44;
    static final int PROG_NAME = 48;
    static final int OBJECT_FD = 8;
    static final int INFO_LEN = 4;
    static final int INFO = 8;
    static final int TEST_RETVAL = 4;
    static final int TEST_DATA_SIZE_IN = 8;
    static final int TEST_DATA_SIZE_OUT = 12;
    static final int TEST_DATA_IN = 16;
    static final int TEST_DATA_OUT = 24;
    static final int TEST_REPEAT = 32;
    static final int TEST_DURATION = 36;
    static final int LINK_TARGET_IFINDEX = 4;
    static final int LINK_ATTACH_TYPE = 8;
    static final int LINK_FLAGS = 12;
    static final int LINK_NEW_PROG_FD = 4;
    static final int OBJ_NAME_BYTES = 16;

    private static final int ATTRIBUTE_BYTES = 80;
    private static final int LICENSE_BYTES = 128;
    private static final int LOG_BYTES = 64 << 10;
    private static final int MAX_LOG_BYTES = 16 << 20;
    private static final int MAX_INSTRUCTIONS = 4096;
    private static final int MAX_PACKET = 1 << 16;
    private static final int MIN_PACKET = 14;
    /** What a program may put before and behind a packet. */
    private static final int MAX_GROWTH = 1024;
    private static final int MAX_PATH = 4095;
    private static final int MAX_REPEAT = 1_000_000;

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
     * Loads a program without a name and without flags; see {@link #load(int, long[], String, String, int)}.
     *
     * @param type for instance {@link #BPF_PROG_TYPE_XDP}
     * @param instructions 1 to 4096
     * @param license as the kernel names it; some kernel functions are for {@code "GPL"} only
     * @return the program, which exists until its last descriptor and use are gone
     * @throws LinuxException as {@link #load(int, long[], String, String, int)} has them
     */
    public static Fd load(int type, long[] instructions, String license) throws LinuxException {
        return load(type, instructions, license, "", 0);
    }

    /**
     * Loads a program; the kernel verifies it.
     *
     * @param type for instance {@link #BPF_PROG_TYPE_XDP}
     * @param instructions 1 to 4096
     * @param license as the kernel names it; some kernel functions are for {@code "GPL"} only
     * @param name what others see of it, at most 15 letters, digits, underscores and dots; may be empty
     * @param flags 0 or {@link #BPF_F_XDP_HAS_FRAGS}
     * @return the program, which exists until its last descriptor and use are gone
     * @throws LinuxException {@code EPERM} (CAP_BPF, and for XDP also CAP_NET_ADMIN, are missing), {@code EACCES} and
     *         {@code EINVAL} (rejected by the verifier, whose last sentence is in the message; {@link #verifierLog} has
     *         all), {@code ENOSYS}, {@code EMFILE}
     */
    public static Fd load(int type, long[] instructions, String license, String name, int flags) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = program(arena, instructions, license);
            byte[] named = objectName(name);
            String call = "bpf(BPF_PROG_LOAD, type " + type + ")";
            long result = load(type, instructions.length, memory, named, flags, MemorySegment.NULL);
            if (result == -Errno.EPERM) {
                throw new LinuxException(call, Errno.EPERM,
                        "programs for XDP need CAP_BPF and CAP_NET_ADMIN in the initial user namespace");
            }
            if (result == -Errno.EACCES || result == -Errno.EINVAL) { // once more, for the verifier's log
                String sentence = lastSentence(log(type, instructions.length, memory, named, flags));
                if (!sentence.isEmpty()) {
                    throw new LinuxException(call, (int) -result, "verifier: " + sentence);
                }
            }
            return Fd.ofResult(result, call);
        }
    }

    /**
     * All that the verifier says about a program, which is not kept.
     *
     * @param type for instance {@link #BPF_PROG_TYPE_XDP}
     * @param instructions 1 to 4096
     * @param license as for {@link #load(int, long[], String, String, int)}
     * @param flags as for {@link #load(int, long[], String, String, int)}
     * @return each step, whether the program is accepted or not; empty if the program never came to the verifier
     */
    public static String verifierLog(int type, long[] instructions, String license, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            return log(type, instructions.length, program(arena, instructions, license), objectName(""), flags);
        }
    }

    /** The instructions, and behind them the license. */
    private static MemorySegment program(Arena arena, long[] instructions, String license) {
        Args.requireBetween(instructions.length, 1, MAX_INSTRUCTIONS, "the length of a program");
        byte[] text = Args.name(license, LICENSE_BYTES - 1, "a license");
        long textAt = instructions.length * 8L;
        MemorySegment memory = arena.allocate(textAt + LICENSE_BYTES, 8);
        MemorySegment.copy(instructions, 0, memory, ValueLayout.JAVA_LONG, 0, instructions.length);
        MemorySegment.copy(text, 0, memory, ValueLayout.JAVA_BYTE, textAt, text.length);
        return memory;
    }

    static byte[] objectName(String name) {
        if (!name.chars().allMatch(c -> c < 128 && (Character.isLetterOrDigit(c) || c == '_' || c == '.'))) {
            throw new IllegalArgumentException("a name in the kernel has letters, digits, '_' and '.' only: " + name);
        }
        return Args.name(name, OBJ_NAME_BYTES - 1, "a name in the kernel");
    }

    private static long load(int type, int count, MemorySegment memory, byte[] name, int flags, MemorySegment log) {
        MemorySegment a = attributes();
        a.set(ValueLayout.JAVA_INT, 0, type);
        a.set(ValueLayout.JAVA_INT, PROG_INSN_CNT, count);
        a.set(ValueLayout.JAVA_LONG, PROG_INSNS, memory.address());
        a.set(ValueLayout.JAVA_LONG, PROG_LICENSE, memory.address() + memory.byteSize() - LICENSE_BYTES);
        a.set(ValueLayout.JAVA_INT, PROG_FLAGS, flags);
        MemorySegment.copy(name, 0, a, ValueLayout.JAVA_BYTE, PROG_NAME, name.length);
        if (log.byteSize() > 0) {
            a.set(ValueLayout.JAVA_INT, PROG_LOG_LEVEL, 1);
            a.set(ValueLayout.JAVA_INT, PROG_LOG_SIZE, (int) log.byteSize());
            a.set(ValueLayout.JAVA_LONG, PROG_LOG_BUF, log.address());
        }
        return call(memory, BPF_PROG_LOAD);
    }

    /** Loads with ever more space until the log fits, which is otherwise {@code ENOSPC} even for a program in order. */
    private static String log(int type, int count, MemorySegment memory, byte[] name, int flags) {
        for (int bytes = LOG_BYTES;; bytes <<= 4) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment log = arena.allocate(bytes, 8);
                long result = load(type, count, memory, name, flags, log);
                if (result >= 0) {
                    Fd.of((int) result).close();
                }
                if (result != -Errno.ENOSPC || bytes >= MAX_LOG_BYTES) {
                    return text(log);
                }
            }
        }
    }

    /** The text up to the first NUL. */
    static String text(MemorySegment memory) {
        byte[] bytes = memory.toArray(ValueLayout.JAVA_BYTE);
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    /** The last sentence of a log, which states the error. */
    private static String lastSentence(String log) {
        return log.lines().filter(l -> !l.isBlank() && !l.startsWith("processed ")).reduce("", (before, line) -> line);
    }

    /**
     * Runs a program once on a packet that no interface has received.
     *
     * @param program a program of {@link #BPF_PROG_TYPE_XDP} or {@link #BPF_PROG_TYPE_SCHED_CLS}
     * @param packet 14 to 65536 bytes
     * @return what the program returned, for instance {@link #XDP_PASS}
     * @throws LinuxException {@code EPERM}, {@code EOPNOTSUPP} (not programs of its type)
     */
    public static int testRun(Fd program, byte[] packet) throws LinuxException {
        return testRun(program, packet, 1).result();
    }

    /**
     * Runs a program on a packet that no interface has received, on queue 0.
     *
     * @param program a program of {@link #BPF_PROG_TYPE_XDP} or {@link #BPF_PROG_TYPE_SCHED_CLS}
     * @param packet 14 to 65536 bytes; from about 3500 on it consists of several buffers
     * @param repeat how often, 1 to 1000000; the packet is the same each time, even if the program changes it
     * @return the last run's result and the packet after it, and the time of all
     * @throws LinuxException {@code EPERM}, {@code EOPNOTSUPP} (not programs of its type), {@code EINVAL} (more than the
     *         kernel has buffers for)
     */
    public static BpfTestRun testRun(Fd program, byte[] packet, int repeat) throws LinuxException {
        Args.requireBetween(packet.length, MIN_PACKET, MAX_PACKET, "the length of a packet");
        Args.requireBetween(repeat, 1, MAX_REPEAT, "how often a program runs");
        int number = program.value();
        try (Arena arena = Arena.ofConfined()) {
            int space = packet.length + MAX_GROWTH;
            MemorySegment memory = arena.allocate((long) packet.length + space, 8);
            MemorySegment.copy(packet, 0, memory, ValueLayout.JAVA_BYTE, 0, packet.length);
            MemorySegment a = attributes();
            a.set(ValueLayout.JAVA_INT, 0, number);
            a.set(ValueLayout.JAVA_INT, TEST_DATA_SIZE_IN, packet.length);
            a.set(ValueLayout.JAVA_INT, TEST_DATA_SIZE_OUT, space);
            a.set(ValueLayout.JAVA_LONG, TEST_DATA_IN, memory.address());
            a.set(ValueLayout.JAVA_LONG, TEST_DATA_OUT, memory.address() + packet.length);
            a.set(ValueLayout.JAVA_INT, TEST_REPEAT, repeat);
            Args.check(call(memory, BPF_PROG_TEST_RUN), "bpf(BPF_PROG_TEST_RUN, " + packet.length + " bytes)");
            int length = Math.min(a.get(ValueLayout.JAVA_INT, TEST_DATA_SIZE_OUT), space);
            return new BpfTestRun(a.get(ValueLayout.JAVA_INT, TEST_RETVAL), Integer.toUnsignedLong(
                    a.get(ValueLayout.JAVA_INT, TEST_DURATION)), memory.asSlice(packet.length, length).toArray(
                            ValueLayout.JAVA_BYTE));
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

    /**
     * Puts another program in the place of an attached one, between two packets: {@code BPF_LINK_UPDATE}. It takes some
     * 10 ms, for the kernel waits until no processor runs the former one any more.
     *
     * @param link what {@link #attach} returned
     * @param program a program of the same type
     * @throws LinuxException {@code EINVAL} (of another type), {@code ENOLINK} (the interface is gone), {@code EPERM}
     */
    public static void replace(Fd link, Fd program) throws LinuxException {
        int number = program.value();
        MemorySegment a = attributes();
        a.set(ValueLayout.JAVA_INT, 0, link.value());
        a.set(ValueLayout.JAVA_INT, LINK_NEW_PROG_FD, number);
        Args.check(call(BPF_LINK_UPDATE), "bpf(BPF_LINK_UPDATE)");
    }

    /**
     * Gives a program, an attachment or a table a name in a file system of type bpf, which keeps it when no process has
     * it open any more: {@code BPF_OBJ_PIN}. Deleting the file ends that.
     *
     * @param object its descriptor
     * @param path does not exist yet
     * @throws LinuxException {@code EEXIST}, {@code EPERM}, {@code ENOENT} (no such folder), {@code EACCES}
     */
    public static void pin(Fd object, Path path) throws LinuxException {
        long result = pinned(object.value(), path, BPF_OBJ_PIN);
        String call = "bpf(BPF_OBJ_PIN, " + path + ")";
        if (result == -Errno.EPERM) {
            throw new LinuxException(call, Errno.EPERM,
                    "the folder has to be in a file system of type bpf: mount -t bpf bpf /sys/fs/bpf");
        }
        Args.check(result, call);
    }

    /**
     * Opens what {@link #pin} named: {@code BPF_OBJ_GET}.
     *
     * @param path the file
     * @return a descriptor of its own of the same object
     * @throws LinuxException {@code ENOENT}, {@code EACCES} (by its rights), {@code EPERM}, {@code EMFILE}
     */
    public static Fd open(Path path) throws LinuxException {
        return Fd.ofResult(pinned(0, path, BPF_OBJ_GET), "bpf(BPF_OBJ_GET, " + path + ")");
    }

    private static long pinned(int number, Path path, int command) {
        byte[] name = Args.name(path.toString(), MAX_PATH, "a path");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(name.length + 1L);
            MemorySegment.copy(name, 0, memory, ValueLayout.JAVA_BYTE, 0, name.length);
            MemorySegment a = attributes();
            a.set(ValueLayout.JAVA_LONG, 0, memory.address());
            a.set(ValueLayout.JAVA_INT, OBJECT_FD, number);
            return call(memory, command);
        }
    }

    /** What a descriptor refers to, as proc(5) has it, for instance "anon_inode:bpf-map". */
    static String kind(Fd object) throws LinuxException {
        Path link = Path.of("/proc/self/fd/" + object.value());
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            LinuxException missing = new LinuxException("readlink(" + link + ")", Errno.ENOENT, "mount proc at /proc");
            missing.initCause(e);
            throw missing;
        }
    }

    /** What the kernel knows of an object, as long as it has told: {@code BPF_OBJ_GET_INFO_BY_FD}. */
    static MemorySegment info(Arena arena, Fd object, int bytes) throws LinuxException {
        MemorySegment memory = arena.allocate(bytes, 8);
        MemorySegment a = attributes();
        a.set(ValueLayout.JAVA_INT, 0, object.value());
        a.set(ValueLayout.JAVA_INT, INFO_LEN, bytes);
        a.set(ValueLayout.JAVA_LONG, INFO, memory.address());
        Args.check(call(memory, BPF_OBJ_GET_INFO_BY_FD), "bpf(BPF_OBJ_GET_INFO_BY_FD)");
        return memory;
    }

    /** union bpf_attr, all zero, in the thread's scratch memory: valid until its next call. */
    static MemorySegment attributes() {
        return scratch().fill((byte) 0);
    }

    /** The same, as it is. */
    static MemorySegment scratch() {
        return Native.scratch().memory().asSlice(0, ATTRIBUTE_BYTES);
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
