// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.verbena.tests.DebianArchive;
import org.verbena.tests.DebianArchive.Unavailable;

/** The modules of a kernel package, in the order in which they have to be loaded. */
final class KernelModules {
    private static final Pattern NAME = Pattern.compile("([^/]*)\\.ko(\\.xz)?$");
    private static final Pattern DEPENDS = Pattern.compile("\0depends=([^\0]*)\0");

    private final Map<String, Path> files = new HashMap<>();
    private final Set<String> builtIn;

    /** @param folder {@code /lib/modules/VERSION} of the package */
    KernelModules(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path f : (Iterable<Path>) all::iterator) {
                Matcher m = NAME.matcher(f.toString());
                if (m.find()) {
                    files.put(name(m.group(1)), f);
                }
            }
        }
        builtIn = Files.readAllLines(folder.resolve("modules.builtin")).stream().map(
                l -> name(l.replaceAll(".*/|\\.ko$", ""))).collect(Collectors.toSet());
    }

    /** These and those that they depend on, each behind what it depends on: name to content. */
    Map<String, byte[]> withDependencies(List<String> wanted) throws IOException, InterruptedException, Unavailable {
        Map<String, byte[]> found = new LinkedHashMap<>();
        for (String w : wanted) {
            add(name(w), found);
        }
        return found;
    }

    private void add(String module, Map<String, byte[]> found)
            throws IOException, InterruptedException, Unavailable {
        if (found.containsKey(module) || builtIn.contains(module)) {
            return;
        }
        Path file = files.get(module);
        if (file == null) {
            throw new Unavailable("this kernel has no module " + module);
        }
        byte[] content = content(file);
        Matcher m = DEPENDS.matcher(new String(content, StandardCharsets.ISO_8859_1));
        if (m.find() && !m.group(1).isEmpty()) {
            for (String d : m.group(1).split(",", -1)) {
                add(name(d), found);
            }
        }
        found.put(module, content);
    }

    private static byte[] content(Path file) throws IOException, InterruptedException, Unavailable {
        if (!file.toString().endsWith(".xz")) {
            return Files.readAllBytes(file);
        }
        DebianArchive.run(file.getParent(), "xz", "-dk", file.toString());
        return Files.readAllBytes(Path.of(file.toString().replaceFirst("\\.xz$", "")));
    }

    private static String name(String module) {
        return module.replace('-', '_');
    }
}
