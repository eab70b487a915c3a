package org.verbena.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * The C library of the verbs, where it is installed: which devices it finds. It loads its own drivers for that, so this
 * runs foreign code in the process: who wants to be safe from it asks in a process of its own. Stateless; one thread at
 * a time.
 */
public final class LibIbverbs {
    /** The name that the dynamic loader knows. */
    public static final String NAME = "libibverbs.so.1";

    private static final int MAX_DEVICES = 1024;

    private LibIbverbs() {}

    /**
     * The names of the devices: ibv_get_device_list(3), ibv_get_device_name(3).
     *
     * @return for instance {@code mlx5_0}, none if there is no device
     * @throws LinuxException {@code ENOSYS} (the kernel has no RDMA), {@code EPERM}, {@code ENOMEM}
     * @throws IOException if the library is not installed or lacks a function; the message is the loader's
     */
    public static List<String> deviceNames() throws IOException {
        SharedLibrary library = SharedLibrary.open(NAME);
        StructLayout capture = Linker.Option.captureStateLayout();
        MethodHandle list = library.link("ibv_get_device_list",
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS),
                Linker.Option.captureCallState("errno"));
        MethodHandle name = library.link("ibv_get_device_name",
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        MethodHandle free = library.link("ibv_free_device_list", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(capture);
            MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment devices = (MemorySegment) list.invokeExact(errno, count);
            if (devices.address() == 0) {
                int number = (int) capture.varHandle(StructLayout.PathElement.groupElement("errno")).get(errno, 0L);
                throw new LinuxException("ibv_get_device_list()", number);
            }
            int found = Math.clamp(count.get(ValueLayout.JAVA_INT, 0), 0, MAX_DEVICES);
            MemorySegment pointers = devices.reinterpret(found * ValueLayout.ADDRESS.byteSize());
            List<String> names = new ArrayList<>();
            for (int i = 0; i < found; i++) {
                MemorySegment device = pointers.getAtIndex(ValueLayout.ADDRESS, i);
                names.add(SharedLibrary.text((MemorySegment) name.invokeExact(device)));
            }
            free.invokeExact(devices);
            return names;
        } catch (IOException | RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }
}
