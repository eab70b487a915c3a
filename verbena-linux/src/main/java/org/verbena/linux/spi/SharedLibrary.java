// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux.spi;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/**
 * A library of the system, by name: dlopen(3). It stays loaded until the process ends: its code may have left threads
 * and handlers behind.
 *
 * <p>Opening one runs foreign code in this process. Stateless and thread-safe.
 */
public final class SharedLibrary {
    /** {@code RTLD_NOW} of dlopen(3): missing symbols are detected at once. */
    public static final int RTLD_NOW = 2;
    private static final int MAX_TEXT = 4096;

    private final MemorySegment handle;

    private SharedLibrary(MemorySegment handle) {
        this.handle = handle;
    }

    /**
     * Opens a library: dlopen(3) with {@code RTLD_NOW}.
     *
     * @param name for the dynamic loader, or a path
     * @throws IOException if it cannot be loaded; the message is the loader's
     * @throws IllegalCallerException if native access is denied
     */
    public static SharedLibrary open(String name) throws IOException {
        Native.requireAccess();
        if (name.isEmpty() || name.indexOf('\0') >= 0 || name.length() > MAX_TEXT) {
            throw new IOException("not the name of a library: '" + name + "'");
        }
        MethodHandle dlopen = system("dlopen", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS,
                ValueLayout.JAVA_INT));
        MethodHandle dlerror = system("dlerror", FunctionDescriptor.of(ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = (MemorySegment) dlopen.invokeExact(arena.allocateFrom(name), RTLD_NOW);
            if (handle.address() == 0) {
                String why = text((MemorySegment) dlerror.invokeExact());
                throw new IOException(why.isEmpty() ? "dlopen(\"" + name + "\") failed" : why);
            }
            return new SharedLibrary(handle);
        } catch (IOException | RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static MethodHandle system(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
    }

    /**
     * Links a function of the library; its argument list begins with memory for errno if that is captured.
     *
     * @throws IOException if the library has no such function
     */
    public MethodHandle link(String name, FunctionDescriptor type, Linker.Option... options) throws IOException {
        MemorySegment symbol = find(name);
        if (symbol.address() == 0) {
            throw new IOException("the library has no function " + name);
        }
        return Linker.nativeLinker().downcallHandle(symbol, type, options);
    }

    /** The address of a symbol: dlsym(3); {@link MemorySegment#NULL} if the library has none. */
    public MemorySegment find(String name) {
        MethodHandle dlsym = system("dlsym", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS,
                ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            return (MemorySegment) dlsym.invokeExact(handle, arena.allocateFrom(name));
        } catch (RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** A NUL-terminated text of the library; empty for NULL. At most {@value #MAX_TEXT} bytes are read. */
    public static String text(MemorySegment address) {
        if (address.address() == 0) {
            return "";
        }
        MemorySegment bytes = address.reinterpret(MAX_TEXT);
        byte[] copy = new byte[MAX_TEXT];
        int length = 0;
        while (length < MAX_TEXT) { // byte by byte: memory after the NUL may not be mapped
            byte b = bytes.get(ValueLayout.JAVA_BYTE, length);
            if (b == 0) {
                break;
            }
            copy[length++] = b;
        }
        return new String(copy, 0, length, StandardCharsets.UTF_8);
    }
}
