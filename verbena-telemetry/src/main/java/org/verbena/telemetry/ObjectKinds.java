// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

import org.jspecify.annotations.Nullable;

/**
 * The registry of kinds: those of all {@link KindProvider}s that are there. Only readers need it; it is made when it is
 * first asked, so that a process without readers does not search for providers. Safe for use by several threads.
 */
public final class ObjectKinds {
    private static final Logger LOG = System.getLogger("org.verbena.telemetry");

    /** Guards against a service file whose errors never end. */
    private static final int MAX_PROVIDERS = 1000;

    /** Made when it is first asked for. */
    private static final class Known {
        static final Map<Integer, ObjectKind> KINDS = load();

        private Known() {}
    }

    private ObjectKinds() {}

    /** The kind with this number; one without points, states and attributes if it has no provider. */
    public static ObjectKind of(int type) {
        ObjectKind kind = Known.KINDS.get(type);
        return kind == null ? new ObjectKind(type, Integer.toString(type), Map.of()) : kind;
    }

    /** A provider that fails costs its own kinds only. */
    private static Map<Integer, ObjectKind> load() {
        Map<Integer, ObjectKind> all = new HashMap<>();
        Iterator<KindProvider> found = ServiceLoader.load(KindProvider.class, KindProvider.class.getClassLoader())
                .iterator();
        for (int i = 0; i < MAX_PROVIDERS; i++) {
            try {
                if (!found.hasNext()) {
                    break;
                }
                for (ObjectKind kind : found.next().kinds()) {
                    @Nullable ObjectKind other = all.putIfAbsent(kind.type(), kind);
                    if (other != null) {
                        LOG.log(Level.WARNING, "object types {0} and {1} have the same number, {2}: {1} is left out",
                                other
                                        .name(), kind.name(), kind.type());
                    }
                }
            } catch (ServiceConfigurationError | LinkageError | RuntimeException e) {
                LOG.log(Level.WARNING, "some objects have no names in counters", e);
            }
        }
        return Map.copyOf(all);
    }
}
