// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.security.AllPermission;
import java.security.CodeSource;
import java.security.Permissions;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

import jdk.internal.access.JavaLangAccess;
import jdk.internal.module.ServicesCatalog;
import org.jspecify.annotations.Nullable;

/**
 * Verbena's modules inside the agent's jar, each below a folder of its own, and the class loader that they share. They
 * are named modules, so that native access and packages of the JDK are granted to them alone; the loader's parent does
 * not include the class path, so no provider of another version there is found.
 *
 * <p>They are defined one by one through the JDK's own access, not as a {@link ModuleLayer}, which makes no difference
 * that is visible to them: resolving and defining a layer takes three times as long in a JVM that has just started, and
 * the first channel of every program would wait for it.
 */
final class InnerModules extends ClassLoader {
    static final String LINUX = "org.verbena.linux";
    static final String TELEMETRY = "org.verbena.telemetry";
    static final String VERBS = "org.verbena.verbs";
    static final String SHM = "org.verbena.shm";
    static final String ROCE = "org.verbena.roce";
    static final String SOCKETS = "org.verbena.sockets";

    /** The packages of each: listing those of the jar takes longer than defining them. */
    static final Map<String, Set<String>> PACKAGES = Map.of(
            LINUX, Set.of(LINUX, LINUX + ".spi"),
            TELEMETRY, Set.of(TELEMETRY),
            VERBS, Set.of(VERBS, VERBS + ".spi", VERBS + ".telemetry"),
            SHM, Set.of(SHM, SHM + ".completion", SHM + ".control", SHM + ".counts", SHM + ".datagram", SHM + ".layout",
                    SHM + ".memory", SHM + ".pool", SHM + ".ring", SHM + ".xrc"),
            ROCE, Set.of(ROCE, ROCE + ".cm", ROCE + ".header", ROCE + ".link", ROCE + ".transport"),
            SOCKETS, Set.of(SOCKETS, SOCKETS + ".async", SOCKETS + ".extra", SOCKETS + ".jdk", SOCKETS + ".memory",
                    SOCKETS + ".nio",
                    SOCKETS + ".rules",
                    SOCKETS + ".spi", SOCKETS + ".stream", SOCKETS + ".stream.memory", SOCKETS + ".telemetry"));

    /** The folder of the modules in the jar. */
    private static final String ROOT = "META-INF/modules/";

    static {
        registerAsParallelCapable();
    }

    private final JarFile jar;
    private final ProtectionDomain domain;
    private final Map<String, Module> modules = new HashMap<>();
    private final Map<String, String> folders = new ConcurrentHashMap<>();

    /**
     * Defines the modules.
     *
     * @param file the agent's jar, which stays open as long as the JVM runs
     * @throws IllegalStateException if this program lacks a module of the JDK that they need
     */
    InnerModules(File file, JavaLangAccess access) throws IOException {
        super(ClassLoader.getPlatformClassLoader());
        jar = new JarFile(file);
        domain = domain(new CodeSource(file.toURI().toURL(), (Certificate @Nullable []) null));
        for (Map.Entry<String, Set<String>> m : PACKAGES.entrySet()) {
            if (!m.getKey().equals(ROCE)) {
                define(m.getKey(), m.getValue(), access);
            }
        }
        for (Module m : modules.values()) {
            link(m, access);
        }
    }

    /**
     * All permissions, as the JDK's own classes have: agents that apply a policy to all callers on the stack
     * (OpenSearch's) then judge the program's call, not the classes that implement it, which no policy mentions.
     */
    private static ProtectionDomain domain(CodeSource source) {
        Permissions all = new Permissions();
        all.add(new AllPermission());
        return new ProtectionDomain(source, all);
    }

    /**
     * Defines RoCE, too, which is needed only for rules with a device; must be called before the first lookup of
     * providers.
     */
    void addRoce(JavaLangAccess access) throws IOException {
        Set<String> packages = PACKAGES.get(ROCE);
        if (packages != null && !modules.containsKey(ROCE)) {
            define(ROCE, packages, access);
            for (Module m : modules.values()) { // also for their exports to it
                link(m, access);
            }
        }
    }

    private void define(String name, Set<String> packages, JavaLangAccess access) throws IOException {
        String folder = ROOT + name + "/";
        Module module = access.defineModule(this, descriptor(folder, packages), null);
        modules.put(name, module);
        ServicesCatalog.getServicesCatalog(this).register(module);
        for (String p : packages) {
            folders.put(p, folder);
        }
    }

    /** Loops and no lambdas, here and below: each lambda costs time in a JVM that has just started. */
    private ModuleDescriptor descriptor(String folder, Set<String> packages) throws IOException {
        try (InputStream in = jar.getInputStream(jar.getEntry(folder + "module-info.class"))) {
            return ModuleDescriptor.read(in, new Supplier<>() {
                @Override
                public Set<String> get() {
                    return packages;
                }
            });
        }
    }

    /** Adds a module's reads and exports. */
    private void link(Module m, JavaLangAccess access) {
        ModuleDescriptor d = m.getDescriptor();
        for (ModuleDescriptor.Requires r : d.requires()) {
            Module other = modules.containsKey(r.name())
                    ? modules.get(r.name())
                    : ModuleLayer.boot().findModule(r.name()).orElse(null);
            if (other != null) {
                access.addReads(m, other);
            } else if (!isOptional(r)) {
                throw new IllegalStateException("this program has no module " + r.name());
            }
        }
        for (ModuleDescriptor.Exports e : d.exports()) {
            if (!e.isQualified()) {
                access.addExports(m, e.source());
            }
            for (String to : e.targets()) {
                Module other = modules.get(to);
                if (other != null) { // otherwise it is not in the jar, as the command
                    access.addExports(m, e.source(), other);
                }
            }
        }
    }

    /** Whether Verbena can do without it, as without the Flight Recorder. */
    private static boolean isOptional(ModuleDescriptor.Requires r) {
        return r.name().startsWith("jdk.") || r.modifiers().contains(ModuleDescriptor.Requires.Modifier.STATIC);
    }

    /** A module by its name, one of {@link #PACKAGES}. */
    Module module(String name) {
        Module m = modules.get(name);
        if (m == null) {
            throw new IllegalArgumentException(name);
        }
        return m;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        String folder = folders.get(name.substring(0, Math.max(0, name.lastIndexOf('.'))));
        if (folder == null) {
            return getParent().loadClass(name);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known == null ? define(name, folder) : known;
        }
    }

    @Override
    protected @Nullable Class<?> findClass(@Nullable String module, String name) {
        try {
            Class<?> c = loadClass(name, false);
            return module == null || module.equals(c.getModule().getName()) ? c : null;
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    private Class<?> define(String name, String folder) throws ClassNotFoundException {
        ZipEntry e = jar.getEntry(folder + name.replace('.', '/') + ".class");
        if (e == null) {
            throw new ClassNotFoundException(name);
        }
        try (InputStream in = jar.getInputStream(e)) {
            byte[] file = in.readAllBytes();
            return defineClass(name, file, 0, file.length, domain);
        } catch (IOException x) {
            throw new ClassNotFoundException(name, x);
        }
    }
}
