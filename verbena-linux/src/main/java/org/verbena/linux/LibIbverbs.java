// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

import org.verbena.linux.spi.SharedLibrary;

/**
 * The installed C library of the verbs: lists the devices that it finds. It loads its own drivers for that, so this
 * runs foreign code in the process: a caller that needs protection from it uses a process of its own. Stateless; one
 * thread at a time.
 */
public final class LibIbverbs {
    /** The name for the dynamic loader. */
    public static final String NAME = "libibverbs.so.1";

    private static final int MAX_DEVICES = 1024;

    private LibIbverbs() {}

    /**
     * A device.
     *
     * @param name for instance {@code mlx5_0}
     * @param errno why it cannot be opened; 0 if it can
     */
    public record Device(String name, int errno) {}

    /**
     * The devices, each of which is opened and closed: ibv_get_device_list(3), ibv_get_device_name(3),
     * ibv_open_device(3).
     *
     * @return none if there is no device
     * @throws LinuxException {@code ENOSYS} (the kernel has no RDMA), {@code EPERM}, {@code ENOMEM}
     * @throws IOException if the library is not installed or lacks a function; the message is the loader's
     */
    public static List<Device> devices() throws IOException {
        SharedLibrary library = SharedLibrary.open(NAME);
        StructLayout capture = Linker.Option.captureStateLayout();
        VarHandle number = capture.varHandle(StructLayout.PathElement.groupElement("errno"));
        MethodHandle list = library.link("ibv_get_device_list",
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS),
                Linker.Option.captureCallState("errno"));
        MethodHandle name = library.link("ibv_get_device_name",
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        MethodHandle open = library.link("ibv_open_device",
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS),
                Linker.Option.captureCallState("errno"));
        MethodHandle close = library.link("ibv_close_device",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        MethodHandle free = library.link("ibv_free_device_list", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(capture);
            MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment devices = (MemorySegment) list.invokeExact(errno, count);
            if (devices.address() == 0) {
                throw new LinuxException("ibv_get_device_list()", (int) number.get(errno, 0L));
            }
            int found = Math.clamp(count.get(ValueLayout.JAVA_INT, 0), 0, MAX_DEVICES);
            MemorySegment pointers = devices.reinterpret(found * ValueLayout.ADDRESS.byteSize());
            List<Device> all = new ArrayList<>();
            for (int i = 0; i < found; i++) {
                MemorySegment device = pointers.getAtIndex(ValueLayout.ADDRESS, i);
                String text = SharedLibrary.text((MemorySegment) name.invokeExact(device));
                MemorySegment context = (MemorySegment) open.invokeExact(errno, device);
                if (context.address() == 0) {
                    int why = (int) number.get(errno, 0L);
                    all.add(new Device(text, why == 0 ? Errno.EIO : why)); // a driver may not have set errno
                } else {
                    int _ = (int) close.invokeExact(context);
                    all.add(new Device(text, 0));
                }
            }
            free.invokeExact(devices);
            return all;
        } catch (IOException | RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }
}
