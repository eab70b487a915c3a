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
import org.verbena.linux.LibIbverbs;
import org.verbena.linux.spi.SharedLibrary;
import org.verbena.verbs.VerbsException;

/** The loaded libibverbs and its exported verbs. It stays loaded until the process ends. Thread-safe. */
final class Ibverbs {
    /** A system property: the file to load in place of {@value LibIbverbs#NAME}. */
    static final String PROPERTY = "verbena.ibverbs";

    private static @Nullable Ibverbs loaded;

    private final String name;
    private final Map<IbvFunction, MemorySegment> functions = new EnumMap<>(IbvFunction.class);

    private Ibverbs(String name, SharedLibrary library) {
        this.name = name;
        for (IbvFunction f : IbvFunction.values()) {
            MemorySegment address = library.find(f.symbol);
            if (address.address() != 0) {
                functions.put(f, address);
            }
        }
    }

    /**
     * The library, loaded by the first call that succeeds.
     *
     * @throws VerbsException {@code ENOENT} if it cannot be loaded, {@code EOPNOTSUPP} if it lacks a function that
     *         every libibverbs has, or native access is denied
     */
    static synchronized Ibverbs load() throws VerbsException {
        Ibverbs l = loaded;
        if (l == null) {
            String name = System.getProperty(PROPERTY, LibIbverbs.NAME);
            String verb = "load " + name;
            try {
                l = new Ibverbs(name, SharedLibrary.open(name));
            } catch (IOException e) {
                throw new VerbsException(verb, Errno.ENOENT, e.getMessage() + ": install libibverbs1 and "
                        + "ibverbs-providers (rdma-core) to use RDMA devices");
            } catch (IllegalCallerException | UnsupportedOperationException e) {
                throw new VerbsException(verb, Errno.EOPNOTSUPP, String.valueOf(e.getMessage()));
            }
            List<String> missing = Stream.of(IbvFunction.values()).filter(IbvFunction::isRequired)
                    .filter(l::lacks).map(f -> f.symbol).toList();
            if (!missing.isEmpty()) {
                throw new VerbsException(verb, Errno.EOPNOTSUPP, "it has no " + String.join(", ", missing)
                        + ": it is too old or no libibverbs; update rdma-core");
            }
            loaded = l;
        }
        return l;
    }

    private boolean lacks(IbvFunction f) {
        return !functions.containsKey(f);
    }

    boolean has(IbvFunction f) {
        return functions.containsKey(f);
    }

    /**
     * The address of a verb.
     *
     * @throws VerbsException {@code EOPNOTSUPP} if the library does not have it
     */
    MemorySegment get(String verb, IbvFunction f) throws VerbsException {
        MemorySegment address = functions.get(f);
        if (address == null) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, name + " has no " + f.symbol + ": rdma-core " + f.since
                    + " or newer is needed");
        }
        return address;
    }

    @Override
    public String toString() {
        return name;
    }
}
