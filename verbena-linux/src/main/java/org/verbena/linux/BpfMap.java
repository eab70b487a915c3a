// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/**
 * A table that programs in the kernel share with processes: bpf(2), {@code BPF_MAP_CREATE}. Thread-safe. Per-CPU tables
 * are not supported here.
 */
public final class BpfMap implements AutoCloseable {
    /** Keys and values of any bytes. */
    public static final int BPF_MAP_TYPE_HASH = 1;
    /** Keys are numbers of 32 bits from 0; all values exist. */
    public static final int BPF_MAP_TYPE_ARRAY = 2;
    /** Values are descriptors of AF_XDP sockets ({@link Xsk}); they cannot be looked up. */
    public static final int BPF_MAP_TYPE_XSKMAP = 17;

    private static final int MAX_KEY = 512;
    private static final int MAX_VALUE = 1 << 20;

    private final Fd fd;
    private final int keyBytes;
    private final int valueBytes;

    private BpfMap(Fd fd, int keyBytes, int valueBytes) {
        this.fd = fd;
        this.keyBytes = keyBytes;
        this.valueBytes = valueBytes;
    }

    /**
     * Makes a table.
     *
     * @param type one of the constants here
     * @param keyBytes bytes of a key, 1 to 512
     * @param valueBytes bytes of a value, 1 to 1 MiB
     * @param maxEntries 1 or more
     * @return the table
     * @throws LinuxException {@code EPERM} (CAP_BPF is missing), {@code EINVAL}, {@code ENOSYS}, {@code ENOMEM},
     *     {@code EMFILE}
     */
    public static BpfMap create(int type, int keyBytes, int valueBytes, int maxEntries) throws LinuxException {
        if (type != BPF_MAP_TYPE_HASH && type != BPF_MAP_TYPE_ARRAY && type != BPF_MAP_TYPE_XSKMAP) {
            throw new IllegalArgumentException("this type of table is not supported here: " + type);
        }
        Args.requireBetween(keyBytes, 1, MAX_KEY, "the length of a key");
        Args.requireBetween(valueBytes, 1, MAX_VALUE, "the length of a value");
        Args.requireBetween(maxEntries, 1, Integer.MAX_VALUE, "the number of entries");
        MemorySegment attributes = Bpf.attributes(); // map_type 0, key_size 4, value_size 8, max_entries 12
        attributes.set(ValueLayout.JAVA_INT, 0, type);
        attributes.set(ValueLayout.JAVA_INT, Bpf.MAP_KEY_SIZE, keyBytes);
        attributes.set(ValueLayout.JAVA_INT, Bpf.MAP_VALUE_SIZE, valueBytes);
        attributes.set(ValueLayout.JAVA_INT, Bpf.MAP_MAX_ENTRIES, maxEntries);
        return new BpfMap(Fd.ofResult(Bpf.call(Bpf.BPF_MAP_CREATE), "bpf(BPF_MAP_CREATE, type " + type + ")"), keyBytes,
                valueBytes);
    }

    /**
     * Writes a value.
     *
     * @param key as long as the table's keys are
     * @param value as long as its values are
     * @throws LinuxException {@code E2BIG} (full, or no such key), {@code EOPNOTSUPP}, {@code EINVAL}
     */
    public void update(byte[] key, byte[] value) throws LinuxException {
        requireLength(value, valueBytes, "value");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = element(arena, key);
            MemorySegment.copy(value, 0, memory, ValueLayout.JAVA_BYTE, valueAt(), valueBytes);
            Args.check(Bpf.call(memory, Bpf.BPF_MAP_UPDATE_ELEM), "bpf(BPF_MAP_UPDATE_ELEM)");
        }
    }

    /**
     * Reads a value.
     *
     * @param key as long as the table's keys are
     * @return the value, if there is one
     * @throws LinuxException {@code EOPNOTSUPP} (not from such a table)
     */
    public Optional<byte[]> lookup(byte[] key) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = element(arena, key);
            long result = Bpf.call(memory, Bpf.BPF_MAP_LOOKUP_ELEM);
            if (result == -Errno.ENOENT) {
                return Optional.empty();
            }
            Args.check(result, "bpf(BPF_MAP_LOOKUP_ELEM)");
            byte[] value = new byte[valueBytes];
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, valueAt(), value, 0, valueBytes);
            return Optional.of(value);
        }
    }

    /** Memory with the key and space for a value, and the attributes that refer to both. */
    private MemorySegment element(Arena arena, byte[] key) {
        requireLength(key, keyBytes, "key");
        int number = fd.value();
        MemorySegment memory = arena.allocate(valueAt() + valueBytes, 8);
        MemorySegment.copy(key, 0, memory, ValueLayout.JAVA_BYTE, 0, keyBytes);
        MemorySegment attributes = Bpf.attributes(); // map_fd 0, key 8, value 16, flags 24
        attributes.set(ValueLayout.JAVA_INT, 0, number);
        attributes.set(ValueLayout.JAVA_LONG, Bpf.ELEMENT_KEY, memory.address());
        attributes.set(ValueLayout.JAVA_LONG, Bpf.ELEMENT_VALUE, memory.address() + valueAt());
        return memory;
    }

    private long valueAt() {
        return (keyBytes + 7L) & ~7L;
    }

    private static void requireLength(byte[] bytes, int length, String what) {
        if (bytes.length != length) {
            throw new IllegalArgumentException("a " + what + " has " + length + " bytes here, not " + bytes.length);
        }
    }

    /**
     * The table's descriptor.
     *
     * @return owned by this object
     */
    public Fd fd() {
        return fd;
    }

    /** Closes the descriptor; the table exists for as long as a program uses it. Idempotent. */
    @Override
    public void close() {
        fd.close();
    }
}
