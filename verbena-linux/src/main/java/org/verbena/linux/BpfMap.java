// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

/**
 * A table that programs in the kernel share with processes: bpf(2), {@code BPF_MAP_CREATE}. Thread-safe.
 *
 * <p>The values of a per-CPU table exist once for each possible processor ({@link #possibleCpus}); a program sees its
 * own. Here such a value is all of them, one behind the other, each filled up to a multiple of 8 bytes.
 */
public final class BpfMap implements AutoCloseable {
    /** Keys and values of any bytes. */
    public static final int BPF_MAP_TYPE_HASH = 1;
    /** Keys are numbers of 32 bits from 0; all values exist. */
    public static final int BPF_MAP_TYPE_ARRAY = 2;
    /** Keys and values of any bytes, a value for each processor. */
    public static final int BPF_MAP_TYPE_PERCPU_HASH = 5;
    /** Keys are numbers of 32 bits from 0; all values exist, for each processor. */
    public static final int BPF_MAP_TYPE_PERCPU_ARRAY = 6;
    /** Keys and values of any bytes; a new key takes the place of one that was not used for long. */
    public static final int BPF_MAP_TYPE_LRU_HASH = 9;
    /** Keys and values of any bytes, a value for each processor; a new key takes the place of an unused one. */
    public static final int BPF_MAP_TYPE_LRU_PERCPU_HASH = 10;
    /**
     * Values are descriptors of tables. An update returns only when no processor runs a program that could have seen the
     * former value.
     */
    public static final int BPF_MAP_TYPE_ARRAY_OF_MAPS = 12;
    /** Values are descriptors of AF_XDP sockets ({@link Xsk}); they cannot be looked up. */
    public static final int BPF_MAP_TYPE_XSKMAP = 17;

    /** A flag of {@link #update(byte[], byte[], int)}: whether the key is there or not. */
    public static final int BPF_ANY = 0;
    /** A flag of {@link #update(byte[], byte[], int)}: the key is new. */
    public static final int BPF_NOEXIST = 1;
    /** A flag of {@link #update(byte[], byte[], int)}: the key is there already. */
    public static final int BPF_EXIST = 2;

    /** A flag of {@link #create(int, int, int, int, int, String)}: entries take memory only while they exist. */
    public static final int BPF_F_NO_PREALLOC = 1;

    static final int BATCH_OUT = 8;
    static final int BATCH_KEYS = 16;
    static final int BATCH_VALUES = 24;
    static final int BATCH_COUNT = 32;
    static final int BATCH_MAP_FD = 36;
    static final int INFO_TYPE = 0;
    static final int INFO_KEY_SIZE = 8;
    static final int INFO_VALUE_SIZE = 12;
    static final int INFO_MAX_ENTRIES = 16;

    private static final Set<Integer> TYPES = Set.of(BPF_MAP_TYPE_HASH, BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_PERCPU_HASH,
            BPF_MAP_TYPE_PERCPU_ARRAY, BPF_MAP_TYPE_LRU_HASH, BPF_MAP_TYPE_LRU_PERCPU_HASH, BPF_MAP_TYPE_ARRAY_OF_MAPS,
            BPF_MAP_TYPE_XSKMAP);
    private static final Set<Integer> PER_CPU = Set.of(BPF_MAP_TYPE_PERCPU_HASH, BPF_MAP_TYPE_PERCPU_ARRAY,
            BPF_MAP_TYPE_LRU_PERCPU_HASH);
    private static final Path POSSIBLE = Path.of("/sys/devices/system/cpu/possible");
    private static final int MAX_KEY = 512;
    private static final int MAX_VALUE = 1 << 20;
    private static final int INFO_BYTES = 48;
    private static final int BATCH = 256;
    /** Of entries that are read at once, if not one is longer. */
    private static final int BATCH_BYTES = 1 << 20;

    private final Fd fd;
    private final int type;
    private final int keyBytes;
    private final int valueBytes;
    private final int maxEntries;

    private BpfMap(Fd fd, int type, int keyBytes, int valueBytes, int maxEntries) {
        this.fd = fd;
        this.type = type;
        this.keyBytes = keyBytes;
        this.valueBytes = valueBytes;
        this.maxEntries = maxEntries;
    }

    /** How long a value is for a process. */
    private static int valueBytes(int type, int bytes) throws LinuxException {
        return PER_CPU.contains(type) ? Math.multiplyExact(bytes + 7 & ~7, possibleCpus()) : bytes;
    }

    /**
     * Makes a table without a name and without flags.
     *
     * @param type one of the constants here, but for {@link #BPF_MAP_TYPE_ARRAY_OF_MAPS}
     * @param keyBytes bytes of a key, 1 to 512
     * @param valueBytes bytes of a value, 1 to 1 MiB
     * @param maxEntries 1 or more
     * @return the table
     * @throws LinuxException as {@link #create(int, int, int, int, int, String)} has them
     */
    public static BpfMap create(int type, int keyBytes, int valueBytes, int maxEntries) throws LinuxException {
        return create(type, keyBytes, valueBytes, maxEntries, 0, "");
    }

    /**
     * Makes a table.
     *
     * @param type one of the constants here, but for {@link #BPF_MAP_TYPE_ARRAY_OF_MAPS}
     * @param keyBytes bytes of a key, 1 to 512
     * @param valueBytes bytes of a value, of one processor, 1 to 1 MiB
     * @param maxEntries 1 or more
     * @param flags 0 or {@link #BPF_F_NO_PREALLOC}
     * @param name what others see of it, at most 15 letters, digits, underscores and dots; may be empty
     * @return the table
     * @throws LinuxException {@code EPERM} (CAP_BPF is missing), {@code EINVAL}, {@code ENOSYS}, {@code ENOMEM},
     *     {@code E2BIG} (more entries than such a table can have), {@code EMFILE}
     */
    public static BpfMap create(int type, int keyBytes, int valueBytes, int maxEntries, int flags, String name)
            throws LinuxException {
        if (!TYPES.contains(type) || type == BPF_MAP_TYPE_ARRAY_OF_MAPS) {
            throw new IllegalArgumentException("this type of table is not supported here: " + type);
        }
        return create(type, keyBytes, valueBytes, maxEntries, flags, name, null);
    }

    /**
     * Makes a table of tables, {@link #BPF_MAP_TYPE_ARRAY_OF_MAPS}.
     *
     * @param like a table of the type and sizes that its values have
     * @param maxEntries 1 or more
     * @param name as for {@link #create(int, int, int, int, int, String)}
     * @return the table, whose keys and values have 4 bytes
     * @throws LinuxException as {@link #create(int, int, int, int, int, String)} has them
     */
    public static BpfMap createOfMaps(BpfMap like, int maxEntries, String name) throws LinuxException {
        return create(BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, maxEntries, 0, name, like.fd);
    }

    private static BpfMap create(int type, int keyBytes, int valueBytes, int maxEntries, int flags, String name,
            @Nullable Fd inner) throws LinuxException {
        Args.requireBetween(keyBytes, 1, MAX_KEY, "the length of a key");
        Args.requireBetween(valueBytes, 1, MAX_VALUE, "the length of a value");
        Args.requireBetween(maxEntries, 1, Integer.MAX_VALUE, "the number of entries");
        byte[] named = Bpf.objectName(name);
        int forProcess = valueBytes(type, valueBytes);
        int innerNumber = inner == null ? 0 : inner.value();
        MemorySegment attributes = Bpf.attributes(); // map_type 0
        attributes.set(ValueLayout.JAVA_INT, 0, type);
        attributes.set(ValueLayout.JAVA_INT, Bpf.MAP_KEY_SIZE, keyBytes);
        attributes.set(ValueLayout.JAVA_INT, Bpf.MAP_VALUE_SIZE, valueBytes);
        attributes.set(ValueLayout.JAVA_INT, Bpf.MAP_MAX_ENTRIES, maxEntries);
        attributes.set(ValueLayout.JAVA_INT, Bpf.MAP_FLAGS, flags);
        attributes.set(ValueLayout.JAVA_INT, Bpf.MAP_INNER_FD, innerNumber);
        MemorySegment.copy(named, 0, attributes, ValueLayout.JAVA_BYTE, Bpf.MAP_NAME, named.length);
        long result = Bpf.call(Bpf.BPF_MAP_CREATE);
        String call = "bpf(BPF_MAP_CREATE, type " + type + ")";
        if (result == -Errno.EPERM) {
            throw new LinuxException(call, Errno.EPERM, "tables need CAP_BPF in the initial user namespace");
        }
        return new BpfMap(Fd.ofResult(result, call), type, keyBytes, forProcess, maxEntries);
    }

    /**
     * A table that exists already, for instance one that {@link Bpf#open} has opened or another process has passed.
     *
     * @param fd the table, which then belongs to the new object
     * @return the table with the sizes that the kernel says
     * @throws LinuxException {@code EINVAL} (not a table), {@code EOPNOTSUPP} (of a type that is not supported here)
     */
    public static BpfMap of(Fd fd) throws LinuxException {
        String kind = Bpf.kind(fd); // what is told of programs and attachments looks the same
        if (!kind.equals("anon_inode:bpf-map")) {
            throw new LinuxException("bpf(BPF_OBJ_GET_INFO_BY_FD)", Errno.EINVAL, "not a table but " + kind);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = Bpf.info(arena, fd, INFO_BYTES);
            int type = info.get(ValueLayout.JAVA_INT, INFO_TYPE);
            if (!TYPES.contains(type)) {
                throw new LinuxException("bpf(BPF_OBJ_GET_INFO_BY_FD)", Errno.EOPNOTSUPP,
                        "a table of type " + type + " is not supported here");
            }
            return new BpfMap(fd, type, info.get(ValueLayout.JAVA_INT, INFO_KEY_SIZE), valueBytes(type, info.get(
                    ValueLayout.JAVA_INT, INFO_VALUE_SIZE)), info.get(ValueLayout.JAVA_INT, INFO_MAX_ENTRIES));
        }
    }

    /**
     * How many processors this host can have, which is how many values there are in a per-CPU table: the kernel's
     * {@code num_possible_cpus}.
     *
     * @return 1 or more
     * @throws LinuxException {@code ENOENT} (no sysfs)
     */
    public static int possibleCpus() throws LinuxException {
        try {
            return countCpus(Files.readString(POSSIBLE));
        } catch (IOException e) {
            LinuxException missing = new LinuxException("read(" + POSSIBLE + ")", Errno.ENOENT, "mount sysfs at /sys");
            missing.initCause(e);
            throw missing;
        }
    }

    /** How many numbers there are in a list such as "0-3,8". */
    static int countCpus(String list) {
        int count = 0;
        for (String range : list.strip().split(",", -1)) {
            int dash = range.indexOf('-');
            count += dash < 0
                    ? 1
                    : Integer.parseInt(range.substring(dash + 1)) - Integer.parseInt(range.substring(0, dash)) + 1;
        }
        return count;
    }

    /**
     * Writes a value, whether the key is there or not.
     *
     * @param key as long as the table's keys are
     * @param value as long as its values are
     * @throws LinuxException {@code E2BIG} (full, or no such key), {@code EOPNOTSUPP}, {@code EINVAL}
     */
    public void update(byte[] key, byte[] value) throws LinuxException {
        update(key, value, BPF_ANY);
    }

    /**
     * Writes a value.
     *
     * @param key as long as the table's keys are
     * @param value as long as its values are: {@link #valueBytes()}
     * @param flags {@link #BPF_ANY}, {@link #BPF_NOEXIST} or {@link #BPF_EXIST}
     * @throws LinuxException {@code E2BIG} (full, or no such key), {@code EEXIST}, {@code ENOENT}, {@code EOPNOTSUPP},
     *         {@code EINVAL}
     */
    public void update(byte[] key, byte[] value, int flags) throws LinuxException {
        requireLength(value, valueBytes, "value");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = element(arena, key, flags);
            MemorySegment.copy(value, 0, memory, ValueLayout.JAVA_BYTE, valueAt(), value.length);
            Args.check(Bpf.call(memory, Bpf.BPF_MAP_UPDATE_ELEM), "bpf(BPF_MAP_UPDATE_ELEM)");
        }
    }

    /**
     * Reads a value.
     *
     * @param key as long as the table's keys are
     * @return the value, {@link #valueBytes()} long, if there is one
     * @throws LinuxException {@code EOPNOTSUPP} (not from such a table)
     */
    public Optional<byte[]> lookup(byte[] key) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = element(arena, key, 0);
            long result = Bpf.call(memory, Bpf.BPF_MAP_LOOKUP_ELEM);
            if (result == -Errno.ENOENT) {
                return Optional.empty();
            }
            Args.check(result, "bpf(BPF_MAP_LOOKUP_ELEM)");
            byte[] value = new byte[valueBytes];
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, valueAt(), value, 0, value.length);
            return Optional.of(value);
        }
    }

    /**
     * Removes a key and its value.
     *
     * @param key as long as the table's keys are
     * @return false if it was not there
     * @throws LinuxException {@code EINVAL} (not from an array)
     */
    public boolean delete(byte[] key) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = element(arena, key, 0);
            Bpf.scratch().set(ValueLayout.JAVA_LONG, Bpf.ELEMENT_VALUE, 0); // which this command must not have
            long result = Bpf.call(memory, Bpf.BPF_MAP_DELETE_ELEM);
            if (result != -Errno.ENOENT) {
                Args.check(result, "bpf(BPF_MAP_DELETE_ELEM)");
            }
            return result >= 0;
        }
    }

    /**
     * The key behind another one, in the kernel's order.
     *
     * @param key one of the table's, or null for the first; if it is no longer there, the walk begins again
     * @return empty behind the last
     * @throws LinuxException {@code EOPNOTSUPP}
     */
    public Optional<byte[]> nextKey(byte @Nullable [] key) throws LinuxException {
        int number = fd.value();
        try (Arena arena = Arena.ofConfined()) {
            long nextAt = keyBytes + 7L & ~7L;
            MemorySegment memory = arena.allocate(nextAt + keyBytes, 8);
            MemorySegment attributes = Bpf.attributes();
            attributes.set(ValueLayout.JAVA_INT, 0, number);
            if (key != null) {
                requireLength(key, keyBytes, "key");
                MemorySegment.copy(key, 0, memory, ValueLayout.JAVA_BYTE, 0, keyBytes);
                attributes.set(ValueLayout.JAVA_LONG, Bpf.ELEMENT_KEY, memory.address());
            }
            attributes.set(ValueLayout.JAVA_LONG, Bpf.ELEMENT_VALUE, memory.address() + nextAt);
            long result = Bpf.call(memory, Bpf.BPF_MAP_GET_NEXT_KEY);
            if (result == -Errno.ENOENT) {
                return Optional.empty();
            }
            Args.check(result, "bpf(BPF_MAP_GET_NEXT_KEY)");
            return Optional.of(memory.asSlice(nextAt, keyBytes).toArray(ValueLayout.JAVA_BYTE));
        }
    }

    /** Takes entries of a table where the kernel has written them. */
    @FunctionalInterface
    public interface Entries {
        /**
         * Takes one.
         *
         * @param memory has it until the method returns; the next ones come at the same place
         * @param keyAt where the key begins
         * @param valueAt where the value begins, {@link #valueBytes()} long
         */
        void entry(MemorySegment memory, long keyAt, long valueAt);
    }

    /**
     * Visits all entries, many a system call: {@code BPF_MAP_LOOKUP_BATCH}. What is changed meanwhile may be seen or
     * not.
     *
     * @param visitor takes the key and the value, {@link #valueBytes()} long
     * @throws LinuxException {@code EOPNOTSUPP} (not such a table), {@code ENOMEM}
     */
    public void forEach(BiConsumer<byte[], byte[]> visitor) throws LinuxException {
        forEachInPlace((memory, keyAt, valueAt) -> visitor.accept(memory.asSlice(keyAt, keyBytes).toArray(
                ValueLayout.JAVA_BYTE), memory.asSlice(valueAt, valueBytes).toArray(ValueLayout.JAVA_BYTE)));
    }

    /**
     * Visits all entries as {@link #forEach} does, without a copy of each: for tables with many entries, or with values of
     * many processors. It takes the same memory however many there are.
     *
     * @param visitor takes the entries
     * @throws LinuxException {@code EOPNOTSUPP} (not such a table), {@code ENOMEM}
     */
    public void forEachInPlace(Entries visitor) throws LinuxException {
        int most = Math.clamp(BATCH_BYTES / (keyBytes + valueBytes), 1, Math.min(BATCH, maxEntries));
        byte[] cursor = null;
        do { // again if a bucket of the hash has more entries than there was space for: none of it was visited
            cursor = batches(most, cursor, visitor);
            most = Math.toIntExact(Math.min(2L * most, Integer.MAX_VALUE));
        } while (cursor != null);
    }

    /** Visits entries from a cursor on; the cursor at which there was no space, or null behind the last entry. */
    private byte @Nullable [] batches(int most, byte @Nullable [] from, Entries visitor) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            long valuesAt = (long) most * keyBytes + 7 & ~7L;
            long cursorAt = valuesAt + (long) most * valueBytes + 7 & ~7L;
            MemorySegment memory = arena.allocate(cursorAt + MAX_KEY, 8);
            if (from != null) {
                MemorySegment.copy(from, 0, memory, ValueLayout.JAVA_BYTE, cursorAt, from.length);
            }
            long result = 0;
            for (boolean first = from == null; result >= 0; first = false) {
                int number = fd.value();
                MemorySegment a = Bpf.attributes(); // in_batch 0
                a.set(ValueLayout.JAVA_LONG, 0, first ? 0 : memory.address() + cursorAt);
                a.set(ValueLayout.JAVA_LONG, BATCH_OUT, memory.address() + cursorAt);
                a.set(ValueLayout.JAVA_LONG, BATCH_KEYS, memory.address());
                a.set(ValueLayout.JAVA_LONG, BATCH_VALUES, memory.address() + valuesAt);
                a.set(ValueLayout.JAVA_INT, BATCH_COUNT, most);
                a.set(ValueLayout.JAVA_INT, BATCH_MAP_FD, number);
                result = Bpf.call(memory, Bpf.BPF_MAP_LOOKUP_BATCH);
                if (result == -Errno.ENOSPC) { // with the first bucket of the batch, whose cursor was written
                    return memory.asSlice(cursorAt, MAX_KEY).toArray(ValueLayout.JAVA_BYTE);
                }
                if (result != -Errno.ENOENT) { // which comes with the last ones
                    Args.check(result, "bpf(BPF_MAP_LOOKUP_BATCH)");
                }
                int count = Math.min(a.get(ValueLayout.JAVA_INT, BATCH_COUNT), most);
                for (int i = 0; i < count; i++) {
                    visitor.entry(memory, (long) i * keyBytes, valuesAt + (long) i * valueBytes);
                }
            }
            return null;
        }
    }

    /** Memory with the key and space for a value, and the attributes that refer to both. */
    private MemorySegment element(Arena arena, byte[] key, int flags) {
        requireLength(key, keyBytes, "key");
        int number = fd.value();
        MemorySegment memory = arena.allocate(valueAt() + valueBytes, 8);
        MemorySegment.copy(key, 0, memory, ValueLayout.JAVA_BYTE, 0, keyBytes);
        MemorySegment attributes = Bpf.attributes(); // map_fd 0, key 8, value 16, flags 24
        attributes.set(ValueLayout.JAVA_INT, 0, number);
        attributes.set(ValueLayout.JAVA_LONG, Bpf.ELEMENT_KEY, memory.address());
        attributes.set(ValueLayout.JAVA_LONG, Bpf.ELEMENT_VALUE, memory.address() + valueAt());
        attributes.set(ValueLayout.JAVA_LONG, Bpf.ELEMENT_FLAGS, flags);
        return memory;
    }

    private long valueAt() {
        return keyBytes + 7L & ~7L;
    }

    private static void requireLength(byte[] bytes, int length, String what) {
        if (bytes.length != length) {
            throw new IllegalArgumentException("a " + what + " has " + length + " bytes here, not " + bytes.length);
        }
    }

    /**
     * Its type.
     *
     * @return one of the constants here
     */
    public int type() {
        return type;
    }

    /**
     * How long a key is.
     *
     * @return bytes, 1 or more
     */
    public int keyBytes() {
        return keyBytes;
    }

    /**
     * How long a value is for a process.
     *
     * @return bytes: what the table was made with, in a per-CPU table that, filled up to a multiple of 8, for each
     *         possible processor
     */
    public int valueBytes() {
        return valueBytes;
    }

    /**
     * How many entries it can have.
     *
     * @return 1 or more
     */
    public int maxEntries() {
        return maxEntries;
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
