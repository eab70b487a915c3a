// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What was made from a context and has to be closed with it. It keeps none of that alive. Safe for use by several threads. */
final class Children {
    private final Set<Reference> references = ConcurrentHashMap.newKeySet();

    private static final class Reference extends WeakReference<VerbsObject> {
        final Runnable report;

        Reference(VerbsObject o) {
            super(o);
            report = o.dropReport();
        }
    }

    /** Until it is closed, which runs {@code closed}. */
    void add(VerbsObject child, Runnable closed) {
        Reference r = new Reference(child);
        child.onClose(() -> {
            references.remove(r);
            closed.run();
        });
        references.add(r);
    }

    /** Those that are not closed yet, in no order. */
    List<VerbsObject> open() {
        List<VerbsObject> open = new ArrayList<>(); // providers ask again and again, and a stream has more to allocate
        for (Reference r : references) {
            VerbsObject o = r.get();
            if (o != null && !o.isClosed()) {
                open.add(o);
            }
        }
        return Collections.unmodifiableList(open);
    }

    /** Reports those that were dropped without a close, and closes the others, each before what it was made from. */
    void close() throws VerbsException {
        List<VerbsObject> open = open(); // from here on none of these is dropped
        for (Reference r : references) {
            if (r.get() == null) {
                r.report.run();
            }
        }
        for (VerbsObject child : open) {
            if (child instanceof Counters c) {
                c.detachAll();
            }
        }
        VerbsException failure = null;
        for (VerbsObject child : open.stream().sorted(Comparator.comparingInt(VerbsObject::closeOrder)).toList()) {
            try {
                child.close();
            } catch (VerbsException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
