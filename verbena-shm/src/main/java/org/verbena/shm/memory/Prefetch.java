// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Madvise;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryAdvice;
import org.verbena.verbs.ScatterGatherElement;
import org.verbena.verbs.VerbsException;

/** Follows advice on regions: brings their pages in. It is done when the call returns, whatever the flags. */
public final class Prefetch {
    private Prefetch() {}

    public static void advise(String verb, KeyTable keys, int pd, int advice, List<ScatterGatherElement> ranges)
            throws VerbsException {
        if (advice < MemoryAdvice.PREFETCH || advice > MemoryAdvice.PREFETCH_NO_FAULT) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "advice " + MemoryAdvice.toString(advice)
                    + " is not known to shm0");
        }
        boolean write = advice == MemoryAdvice.PREFETCH_WRITE;
        List<Region> regions = new ArrayList<>();
        for (ScatterGatherElement e : ranges) {
            regions.add(check(verb, keys.find(e.lkey()), pd, e, write));
        }
        for (int i = 0; i < regions.size(); i++) {
            ScatterGatherElement e = ranges.get(i);
            if (e.length() > 0) {
                bringIn(verb, regions.get(i), e, advice);
            }
        }
    }

    private static Region check(String verb, @Nullable Region r, int pd, ScatterGatherElement e, boolean write)
            throws VerbsException {
        if (r == null || r.pd == pd && !r.covers(e.address(), e.length())) {
            throw new VerbsException(verb, Errno.EFAULT, e + (r == null
                    ? ": there is no such key"
                    : " lies outside the region"));
        }
        if (r.pd != pd) {
            throw new VerbsException(verb, Errno.EPERM, e + " belongs to another protection domain");
        }
        if ((r.access & AccessFlags.ON_DEMAND) == 0) {
            throw new VerbsException(verb, Errno.ENOENT, e + ": the region was registered without ON_DEMAND");
        }
        if (write && (r.access & AccessFlags.LOCAL_WRITE) == 0) {
            throw new VerbsException(verb, Errno.EPERM, e + ": the region may not be written");
        }
        return r;
    }

    private static void bringIn(String verb, Region r, ScatterGatherElement e, int advice) throws VerbsException {
        try {
            var range = r.segment.asSlice(e.address() - r.iova, e.length());
            if (advice == MemoryAdvice.PREFETCH_NO_FAULT) {
                Madvise.willNeed(range);
            } else {
                Madvise.populate(range, advice == MemoryAdvice.PREFETCH_WRITE);
            }
        } catch (LinuxException x) {
            boolean unmapped = x.errno() == Errno.ENOMEM && advice == MemoryAdvice.PREFETCH_NO_FAULT;
            throw unmapped || x.errno() == Errno.EFAULT
                    ? new VerbsException(verb, Errno.EFAULT, e + " is not mapped")
                    : new VerbsException(verb, x);
        } catch (IllegalStateException | WrongThreadException closed) {
            throw new VerbsException(verb, Errno.EFAULT, e + ": the memory's arena is closed");
        }
    }
}
