package org.verbena.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

import org.verbena.linux.spi.Native;

/**
 * A library of the system's, by name: dlopen(3). It stays loaded until the process ends: what has run in it may have
 * left threads and handlers behind.
 *
 * <p>Opening one runs foreign code in this process. Stateless and thread-safe.
 */
final class SharedLibrary {
    static final int RTLD_NOW = 2;
    private static final int MAX_TEXT = 4096;

    private final MemorySegment handle;

    private SharedLibrary(MemorySegment handle) {
        this.handle = handle;
    }

    /** Opens {@code name}; the exception's message is the loader's. */
    static SharedLibrary open(String name) throws IOException {
        Native.requireAccess();
        Args.name(name, MAX_TEXT, "the name of a library");
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

    /** Links a function of the library; its last argument list begins with memory for errno if it is captured. */
    MethodHandle link(String name, FunctionDescriptor type, Linker.Option... options) throws IOException {
        MethodHandle dlsym = system("dlsym", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS,
                ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment symbol = (MemorySegment) dlsym.invokeExact(handle, arena.allocateFrom(name));
            if (symbol.address() == 0) {
                throw new IOException("the library has no function " + name);
            }
            return Linker.nativeLinker().downcallHandle(symbol, type, options);
        } catch (IOException | RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** A text of the library's that ends with NUL; empty for NULL. At most {@value #MAX_TEXT} bytes are read. */
    static String text(MemorySegment address) {
        if (address.address() == 0) {
            return "";
        }
        MemorySegment bytes = address.reinterpret(MAX_TEXT);
        byte[] copy = new byte[MAX_TEXT];
        int length = 0;
        while (length < MAX_TEXT) { // byte by byte: what lies behind the NUL may not be mapped
            byte b = bytes.get(ValueLayout.JAVA_BYTE, length);
            if (b == 0) {
                break;
            }
            copy[length++] = b;
        }
        return new String(copy, 0, length, StandardCharsets.UTF_8);
    }
}
