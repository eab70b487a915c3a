package org.verbena.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.net.URI;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

import org.jspecify.annotations.Nullable;

/**
 * Verbena's modules inside the agent's jar, each below a folder of its own. A finder of our own, since the JDK's needs the
 * zip file system, which costs time at start.
 */
final class InnerModules implements ModuleFinder {
    /** Where they are. */
    static final String FOLDER = "META-INF/modules/";

    private static final String DESCRIPTOR = "module-info.class";

    private final Map<String, ModuleReference> modules = new HashMap<>();

    /**
     * Reads the descriptors. Loops, not streams: this is on the way to the first channel, and each lambda costs time there.
     *
     * @param jar stays open as long as the JVM runs: classes are loaded from it
     */
    InnerModules(JarFile jar, URI location) throws IOException {
        List<ZipEntry> descriptors = new ArrayList<>();
        Map<String, Set<String>> packages = new HashMap<>();
        for (Enumeration<JarEntry> all = jar.entries(); all.hasMoreElements();) {
            ZipEntry e = all.nextElement();
            String name = e.getName();
            int folderEnd = name.indexOf('/', FOLDER.length()) + 1;
            if (!name.startsWith(FOLDER) || folderEnd == 0 || !name.endsWith(".class")) {
                continue;
            }
            String file = name.substring(folderEnd);
            int packageEnd = file.lastIndexOf('/');
            if (packageEnd >= 0) {
                String folder = name.substring(0, folderEnd);
                Set<String> known = packages.get(folder);
                if (known == null) {
                    known = new HashSet<>();
                    packages.put(folder, known);
                }
                known.add(file.substring(0, packageEnd).replace('/', '.'));
            } else if (file.equals(DESCRIPTOR)) {
                descriptors.add(e);
            }
        }
        for (ZipEntry e : descriptors) {
            String folder = e.getName().substring(0, e.getName().length() - DESCRIPTOR.length());
            Supplier<Set<String>> its = new Supplier<>() { // no lambda, see above
                @Override
                public Set<String> get() {
                    return packages.getOrDefault(folder, Set.of());
                }
            };
            ModuleDescriptor descriptor;
            try (InputStream in = jar.getInputStream(e)) {
                descriptor = present(ModuleDescriptor.read(in, its));
            }
            modules.put(descriptor.name(), new Reference(descriptor, jar, folder,
                    URI.create("jar:" + location + "!/" + folder)));
        }
    }

    /** Without the modules of the JDK that this program does not have: Verbena does without the Flight Recorder. */
    private static ModuleDescriptor present(ModuleDescriptor d) {
        List<ModuleDescriptor.Requires> kept = new ArrayList<>();
        for (ModuleDescriptor.Requires r : d.requires()) {
            if (!r.name().startsWith("jdk.") || ModuleLayer.boot().findModule(r.name()).isPresent()) {
                kept.add(r);
            }
        }
        if (kept.size() == d.requires().size()) {
            return d;
        }
        ModuleDescriptor.Builder b = ModuleDescriptor.newModule(d.name(), d.modifiers());
        kept.forEach(b::requires);
        d.exports().forEach(b::exports);
        d.opens().forEach(b::opens);
        d.uses().forEach(b::uses);
        d.provides().forEach(b::provides);
        d.version().ifPresent(b::version);
        return b.packages(d.packages()).build();
    }

    @Override
    public Optional<ModuleReference> find(String name) {
        return Optional.ofNullable(modules.get(name));
    }

    @Override
    public Set<ModuleReference> findAll() {
        return Set.copyOf(modules.values());
    }

    /** One module. */
    private static final class Reference extends ModuleReference {
        private final JarFile jar;
        private final String folder;

        Reference(ModuleDescriptor descriptor, JarFile jar, String folder, URI location) {
            super(descriptor, location);
            this.jar = jar;
            this.folder = folder;
        }

        @Override
        public ModuleReader open() {
            return new Reader(jar, folder, location().orElseThrow());
        }
    }

    /** Its files. */
    private record Reader(JarFile jar, String folder, URI location) implements ModuleReader {
        @Override
        public Optional<URI> find(String name) {
            return entry(name) == null ? Optional.empty() : Optional.of(URI.create(location + name));
        }

        @Override
        public Optional<InputStream> open(String name) throws IOException {
            ZipEntry e = entry(name);
            return e == null ? Optional.empty() : Optional.of(jar.getInputStream(e));
        }

        private @Nullable ZipEntry entry(String name) {
            ZipEntry e = jar.getEntry(folder + name);
            return e == null || e.isDirectory() ? null : e;
        }

        @Override
        public Stream<String> list() {
            return jar.stream().map(ZipEntry::getName).filter(n -> n.startsWith(folder) && !n.endsWith("/"))
                    .map(n -> n.substring(folder.length()));
        }

        @Override
        public void close() {} // the jar is everybody's
    }
}
