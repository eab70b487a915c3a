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
 * Verbena's modules inside the agent's jar, each below a folder of its own, and the class loader that they share. Named
 * modules, so that native access and packages of the JDK are granted to them alone; its parent knows nothing of the class
 * path, so no provider of another version there is found.
 *
 * <p>They are defined one by one through the JDK's own access, not as a {@link ModuleLayer}, which differs in nothing that
 * they can see: to resolve and define a layer takes three times as long in a JVM that has just begun, and the first
 * channel of every program would wait for it.
 */
final class InnerModules extends ClassLoader {
    static final String LINUX = "org.verbena.linux";
    static final String VERBS = "org.verbena.verbs";
    static final String SHM = "org.verbena.shm";
    static final String ROCE = "org.verbena.roce";
    static final String SOCKETS = "org.verbena.sockets";

    /** The packages of each: to list those of the jar takes longer than to define them. */
    static final Map<String, Set<String>> PACKAGES = Map.of(
            LINUX, Set.of(LINUX, LINUX + ".spi"),
            VERBS, Set.of(VERBS, VERBS + ".spi"),
            SHM, Set.of(SHM, SHM + ".layout", SHM + ".memory", SHM + ".pool", SHM + ".ring"),
            ROCE, Set.of(ROCE, ROCE + ".cm", ROCE + ".header", ROCE + ".link", ROCE + ".transport"),
            SOCKETS, Set.of(SOCKETS, SOCKETS + ".async", SOCKETS + ".memory", SOCKETS + ".nio", SOCKETS + ".rules",
                    SOCKETS + ".spi", SOCKETS + ".stream"));

    /** Where they are. */
    private static final String ROOT = "META-INF/modules/";

    static {
        registerAsParallelCapable();
    }

    private final JarFile jar;
    private final ProtectionDomain domain;
    private final Map<String, Module> modules = new HashMap<>();
    private final Map<String, String> folders = new ConcurrentHashMap<>();

    /**
     * Defines them.
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
     * As the JDK's own classes have it: agents that hold a policy against all callers on the stack (OpenSearch's) see whose call it
     * is, and not what carries it out. Nobody's policy knows of these classes.
     */
    private static ProtectionDomain domain(CodeSource source) {
        Permissions all = new Permissions();
        all.add(new AllPermission());
        return new ProtectionDomain(source, all);
    }

    /** Defines RoCE too, which only rules need that name a device: before the first look for providers. */
    void addRoce(JavaLangAccess access) throws IOException {
        Set<String> packages = PACKAGES.get(ROCE);
        if (packages != null && !modules.containsKey(ROCE)) {
            define(ROCE, packages, access);
            for (Module m : modules.values()) { // what they export to it, too
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

    /** Loops and no lambdas, here and below: each lambda costs time in a JVM that has just begun. */
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

    /** Has a module read what it requires, and others see what it exports. */
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
                if (other != null) { // else it is not in the jar, as the command
                    access.addExports(m, e.source(), other);
                }
            }
        }
    }

    /** Verbena does without the Flight Recorder. */
    private static boolean isOptional(ModuleDescriptor.Requires r) {
        return r.name().startsWith("jdk.") || r.modifiers().contains(ModuleDescriptor.Requires.Modifier.STATIC);
    }

    /** One of {@link #PACKAGES}. */
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
