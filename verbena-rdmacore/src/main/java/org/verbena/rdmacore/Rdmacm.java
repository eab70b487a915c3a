// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.Downcall;
import org.verbena.linux.spi.SharedLibrary;
import org.verbena.verbs.VerbsException;

/** The loaded librdmacm. It stays loaded until the process ends. Thread-safe. */
final class Rdmacm {
    /** A system property: the file to load in place of {@value #NAME}. */
    static final String PROPERTY = "verbena.rdmacm";
    private static final String NAME = "librdmacm.so.1";

    private static @Nullable Rdmacm loaded;

    private final Map<RdmacmFunction, MemorySegment> functions = new EnumMap<>(RdmacmFunction.class);

    private Rdmacm(SharedLibrary library) {
        for (RdmacmFunction f : RdmacmFunction.values()) {
            MemorySegment address = library.find(f.symbol);
            if (address.address() != 0) {
                functions.put(f, address);
            }
        }
    }

    /**
     * The library, loaded by the first call that succeeds.
     *
     * @throws VerbsException {@code EOPNOTSUPP} if it cannot be loaded or is too old
     */
    static synchronized Rdmacm load(String verb) throws VerbsException {
        Rdmacm l = loaded;
        if (l == null) {
            String name = System.getProperty(PROPERTY, NAME);
            try {
                l = new Rdmacm(SharedLibrary.open(name));
            } catch (IOException e) {
                throw new VerbsException(verb, Errno.EOPNOTSUPP, e.getMessage()
                        + ": install librdmacm1 (rdma-core) to connect by address");
            } catch (IllegalCallerException | UnsupportedOperationException e) {
                throw new VerbsException(verb, Errno.EOPNOTSUPP, String.valueOf(e.getMessage()));
            }
            Map<RdmacmFunction, MemorySegment> there = l.functions;
            List<String> missing = Stream.of(RdmacmFunction.values()).filter(f -> !there.containsKey(f)).map(
                    f -> f.symbol).toList();
            if (!missing.isEmpty()) {
                throw new VerbsException(verb, Errno.EOPNOTSUPP, name + " has no " + String.join(", ", missing)
                        + ": it is older than rdma-core 23, or no librdmacm; update rdma-core");
            }
            loaded = l;
        }
        return l;
    }

    /** Calls a function that returns a pointer or a number, and preserves errno. */
    long call(RdmacmFunction f, long... arguments) {
        MemorySegment address = functions.get(f);
        if (address == null) {
            throw new AssertionError(f + " was looked for when the library was loaded");
        }
        return Calls.call(address, arguments);
    }

    /** Calls a function that returns 0, or -1 and errno; returns 0 or the errno. */
    int errno(RdmacmFunction f, long... arguments) {
        if ((int) call(f, arguments) == 0) {
            return 0;
        }
        int e = Downcall.errno();
        return e <= 0 ? Errno.EIO : e == Errno.ENOSYS ? Errno.EOPNOTSUPP : e;
    }
}
