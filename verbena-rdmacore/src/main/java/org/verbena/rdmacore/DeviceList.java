// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.RawMemory;
import org.verbena.linux.spi.SharedLibrary;
import org.verbena.verbs.VerbsException;

/** The list that {@code ibv_get_device_list} returns, until it is closed. For one thread. */
final class DeviceList implements AutoCloseable {
    /** Guards against a garbage count. */
    private static final int MAX_DEVICES = 4096;

    private final Ibverbs library;
    private final long list;
    private final int size;

    private DeviceList(Ibverbs library, long list, int size) {
        this.library = library;
        this.list = list;
        this.size = size;
    }

    static DeviceList get(Ibverbs library) throws VerbsException {
        String verb = "list devices of " + library;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
            long list = Calls.pointer(verb, library.get(verb, IbvFunction.GET_DEVICE_LIST), count.address());
            return new DeviceList(library, list, Math.clamp(count.get(ValueLayout.JAVA_INT, 0), 0, MAX_DEVICES));
        }
    }

    int size() {
        return size;
    }

    /** The address of a {@code struct ibv_device}, valid until the list is closed. */
    long address(int i) {
        return RawMemory.getLong(list + 8L * i);
    }

    String name(int i) throws VerbsException {
        return name(library, "name", address(i));
    }

    /** The name of a {@code struct ibv_device}. */
    static String name(Ibverbs library, String verb, long device) throws VerbsException {
        return device == 0
                ? ""
                : SharedLibrary.text(MemorySegment.ofAddress(Calls.call(library.get(verb,
                        IbvFunction.GET_DEVICE_NAME), device)));
    }

    RdmaDevice device(int i) throws VerbsException {
        long guid = Calls.call(library.get("guid", IbvFunction.GET_DEVICE_GUID), address(i));
        return new RdmaDevice(name(i), RawMemory.getInt(address(i) + Layout.DEVICE_NODE_TYPE), RawMemory.getInt(
                address(i) + Layout.DEVICE_TRANSPORT_TYPE), Layout.networkOrder(guid));
    }

    @Override
    public void close() throws VerbsException {
        Calls.call(library.get("free", IbvFunction.FREE_DEVICE_LIST), list);
    }
}
