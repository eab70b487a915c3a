// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.OutputStream;
import java.lang.classfile.AccessFlags;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.ConstantValueAttribute;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.constant.ClassDesc;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/**
 * Writes what a jar promises: the public and protected members of the public classes of some packages, as a jar of class
 * files without code for japicmp, and as sorted lines of text for people. The same input makes the same bytes.
 *
 * <p>Usage: {@code java Baseline.java <jar> <baseline without suffix> <package>...}
 */
public final class Baseline {
    private Baseline() {}

    public static void main(String[] args) throws IOException {
        List<String> packages = List.of(args).subList(2, args.length);
        TreeMap<String, byte[]> classes = new TreeMap<>();
        TreeSet<String> lines = new TreeSet<>();
        try (JarFile jar = new JarFile(args[0])) {
            for (JarEntry e : jar.stream().filter(e -> e.getName().endsWith(".class")).toList()) {
                int slash = e.getName().lastIndexOf('/');
                if (slash > 0 && packages.contains(e.getName().substring(0, slash).replace('/', '.'))) {
                    ClassModel c = ClassFile.of().parse(jar.getInputStream(e).readAllBytes());
                    if (isPromised(flags(c))) {
                        classes.put(e.getName(), strip(c));
                        describe(c, lines);
                    }
                }
            }
        }
        if (classes.isEmpty()) {
            throw new IllegalStateException("nothing is promised in " + args[0]);
        }
        try (OutputStream file = Files.newOutputStream(Path.of(args[1] + ".jar"));
                JarOutputStream out = new JarOutputStream(file)) {
            for (var e : classes.entrySet()) {
                JarEntry entry = new JarEntry(e.getKey());
                entry.setTimeLocal(LocalDateTime.of(1980, 1, 1, 0, 0)); // where the times of jars begin
                out.putNextEntry(entry);
                out.write(e.getValue());
            }
        }
        Files.write(Path.of(args[1] + ".txt"), lines);
    }

    /** The flags of a class as its source says them: those of a nested class stand with the inner classes. */
    private static Set<AccessFlag> flags(ClassModel c) {
        return c.findAttribute(Attributes.innerClasses()).stream().flatMap(a -> a.classes().stream())
                .filter(i -> i.innerClass().equals(c.thisClass())).map(i -> i.flags()).findFirst()
                .orElse(c.flags().flags());
    }

    private static boolean isPromised(Set<AccessFlag> flags) {
        return flags.contains(AccessFlag.PUBLIC) || flags.contains(AccessFlag.PROTECTED);
    }

    private static boolean isPromised(AccessFlags flags) {
        return isPromised(flags.flags());
    }

    private static byte[] strip(ClassModel c) {
        return ClassFile.of(ClassFile.DebugElementsOption.DROP_DEBUG).transformClass(c, (builder, element) -> {
            switch (element) {
                case MethodModel m when !isPromised(m.flags()) -> {}
                case FieldModel f when !isPromised(f.flags()) -> {}
                case MethodModel m -> builder.transformMethod(m, (mb, me) -> {
                    if (me instanceof CodeModel) {
                        mb.withCode(code -> code.aconst_null().athrow());
                    } else {
                        mb.with(me);
                    }
                });
                case SourceFileAttribute s -> {}
                default -> builder.with(element);
            }
        });
    }

    private static void describe(ClassModel c, Set<String> lines) {
        String name = c.thisClass().asInternalName().replace('/', '.');
        List<String> parents = new ArrayList<>();
        c.superclass().ifPresent(s -> parents.add(s.asInternalName().replace('/', '.')));
        c.interfaces().forEach(i -> parents.add(i.asInternalName().replace('/', '.')));
        lines.add(name + ": " + words(flags(c)) + "class extends " + String.join(", ", parents));
        for (FieldModel f : c.fields()) {
            if (isPromised(f.flags())) {
                String constant = f.findAttribute(Attributes.constantValue())
                        .map(ConstantValueAttribute::constant).map(v -> " = " + v.constantValue()).orElse("");
                lines.add(name + "." + f.fieldName().stringValue() + ": " + words(f.flags().flags())
                        + f.fieldTypeSymbol().displayName() + constant);
            }
        }
        for (MethodModel m : c.methods()) {
            if (isPromised(m.flags())) {
                lines.add(name + "." + m.methodName().stringValue() + "("
                        + String.join(", ", m.methodTypeSymbol().parameterList().stream().map(Baseline::shown).toList())
                        + "): " + words(m.flags().flags()) + shown(m.methodTypeSymbol().returnType()));
            }
        }
    }

    private static String shown(ClassDesc c) {
        return c.displayName();
    }

    private static String words(Set<AccessFlag> flags) {
        StringBuilder b = new StringBuilder();
        for (AccessFlag f : List.of(AccessFlag.PUBLIC, AccessFlag.PROTECTED, AccessFlag.STATIC, AccessFlag.FINAL,
                AccessFlag.ABSTRACT, AccessFlag.INTERFACE)) {
            if (flags.contains(f)) {
                b.append(f.name().toLowerCase(Locale.ROOT)).append(' ');
            }
        }
        return b.toString();
    }
}
