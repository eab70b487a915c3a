// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

import org.verbena.verbs.spi.ApiRange;
import org.verbena.verbs.spi.VerbsProvider;

/**
 * Finds providers. Whatever a provider does wrong, from a class file that does not load to an exception out of its
 * device list, costs that provider only: each is looked at inside its own net.
 */
final class ProviderRegistry {
    /** What one look found. */
    record Scan(List<Device> devices, List<String> problems, int providers) {}

    /** Guards against a service file whose errors never end. */
    private static final int MAX_PROVIDERS = 1000;

    private static final String UNKNOWN = "a provider";

    private ProviderRegistry() {}

    /** A method, so that no caller has the number compiled in. */
    static int apiLevel() {
        return Verbs.API_LEVEL;
    }

    static Scan scan() {
        List<Device> devices = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        int providers = 0;
        Iterator<ServiceLoader.Provider<VerbsProvider>> found = ServiceLoader
                .load(VerbsProvider.class, Verbs.class.getClassLoader()).stream().iterator();
        for (int i = 0; i < MAX_PROVIDERS; i++) {
            String name = UNKNOWN;
            try {
                if (!found.hasNext()) {
                    break;
                }
                ServiceLoader.Provider<VerbsProvider> p = found.next();
                name = "provider " + p.type().getName();
                providers++;
                VerbsProvider provider = p.get();
                name = "provider " + provider.name();
                ApiRange range = provider.apiRange();
                if (!range.contains(apiLevel())) {
                    problems.add(name + " was built for API levels " + range + ", this is " + apiLevel()
                            + ": it is skipped");
                    continue;
                }
                devices.addAll(provider.devices());
            } catch (VerbsException e) {
                problems.add(name + ": " + e.getMessage());
            } catch (LinkageError e) {
                problems.add((name.equals(UNKNOWN) ? UnlinkedProvider.nameOf(e, problems).orElse(name) : name)
                        + " is broken and skipped: " + reason(e));
            } catch (ServiceConfigurationError | RuntimeException e) {
                problems.add(name + " is broken and skipped: " + reason(e));
            }
        }
        return new Scan(List.copyOf(devices), List.copyOf(problems), providers);
    }

    private static String reason(Throwable e) {
        Throwable t = e;
        while (t.getCause() != null && t.getCause() != t) {
            t = t.getCause();
        }
        return t == e ? e.toString() : e.getMessage() + ", because of " + t;
    }
}
