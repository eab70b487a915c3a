// SPDX-License-Identifier: Apache-2.0
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Lets all compilations of a JVM have one copy of the plugins of javac, Error Prone and NullAway: by itself javac loads them
 * anew each time, and the JIT compiles them anew. Javac finds it by {@code -XDprocloader}, on the boot class path of {@code
 * .mvn/jvm.config}, if {@code config/javac/make} has been there; otherwise it does without.
 */
public final class SharedPlugins extends ClassLoader {
    /** Never closed: they are for as long as the JVM lives. */
    private static final Map<List<String>, ClassLoader> LOADERS = new ConcurrentHashMap<>();

    /** What javac calls, once for each compilation. */
    public SharedPlugins(URL[] path, ClassLoader parent) {
        super(LOADERS.computeIfAbsent(Arrays.stream(path).map(URL::toString).toList(),
                p -> new URLClassLoader(path, parent)));
    }
}
