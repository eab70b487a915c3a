// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.Downcall;
import org.verbena.verbs.VerbsException;

/** Calls of the control path, and the interpretation of their results. Stateless and thread-safe. */
final class Calls {
    private Calls() {}

    /** Calls a function with up to six arguments; the rest is 0. */
    static long call(MemorySegment function, long... arguments) {
        long[] a = arguments.length == 6 ? arguments : Arrays.copyOf(arguments, 6);
        return Downcall.call(function, a[0], a[1], a[2], a[3], a[4], a[5]);
    }

    /** Calls a verb that returns a pointer, or NULL and errno. */
    static long pointer(String verb, MemorySegment function, long... arguments) throws VerbsException {
        long p = call(function, arguments);
        if (p == 0) {
            throw failure(verb, Downcall.errno());
        }
        return p;
    }

    /** Calls a verb that returns 0 or an errno; some return -1 and errno, or minus errno. */
    static void zero(String verb, MemorySegment function, long... arguments) throws VerbsException {
        int result = (int) call(function, arguments);
        if (result != 0) {
            throw failure(verb, result > 0 ? result : result == -1 ? Downcall.errno() : -result);
        }
    }

    /**
     * The exception of a verb that failed; old libraries return {@code ENOSYS} where newer ones return
     * {@code EOPNOTSUPP}.
     */
    static VerbsException failure(String verb, int errno) {
        int e = switch (errno) {
            case 0 -> Errno.EIO; // the driver did not set errno
            case Errno.ENOSYS -> Errno.EOPNOTSUPP;
            default -> errno;
        };
        String advice = switch (e) {
            case Errno.EOPNOTSUPP -> ": the device or its driver cannot do this";
            case Errno.ENOMEM -> ": a limit of the device, or of locked memory (ulimit -l), is reached";
            case Errno.EPERM -> ": raw packets need CAP_NET_RAW, other things access to /dev/infiniband";
            case Errno.EINVAL -> ": the driver refuses a value, which perhaps exceeds a limit of the device";
            default -> "";
        };
        return new VerbsException(verb, e, Errno.text(e) + advice);
    }
}
