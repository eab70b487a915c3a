// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.jspecify.annotations.Nullable;

/** Creates objects that {@link Counters} count from their first moment on. */
final class CountedCreation {
    /** Creates an object. */
    interface Creation<T extends VerbsObject> {
        T create() throws VerbsException;
    }

    private CountedCreation() {}

    /** The attribute bits that may be set: those that the provider knows, and counters, which are not its business. */
    static int known(Context context, int byProvider, int counters) {
        return context.supports(Feature.COUNTERS) ? byProvider | counters : byProvider;
    }

    /**
     * Creates an object.
     *
     * @param counters what counts it from the beginning; null for nothing
     * @throws VerbsException {@code EINVAL} for counters of another context, or that describe nothing, or nothing of such an
     *         object
     */
    static <T extends VerbsObject> T run(String verb, Context context, @Nullable Counters counters, int objectType,
            Creation<T> creation) throws VerbsException {
        if (counters == null) {
            return creation.create();
        }
        counters.checkBindable(verb, objectType, context);
        T o = creation.create();
        try {
            counters.bind(o);
            return o;
        } catch (VerbsException e) {
            o.close();
            throw e;
        }
    }
}
