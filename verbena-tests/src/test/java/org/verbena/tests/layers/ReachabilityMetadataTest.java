// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.layers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.SharedLibrary;
import org.verbena.tests.Repository;

/** What the jars tell GraalVM's native-image, {@code reachability-metadata.json}, is what their code does. */
class ReachabilityMetadataTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> MODULES = List.of("linux", "telemetry", "verbs", "shm", "roce", "rdmacore", "xdp",
            "sockets", "erm", "micrometer");

    private static JsonNode metadata(String module) throws IOException {
        return JSON.readTree(Repository.root().resolve("verbena-" + module
                + "/src/main/resources/META-INF/native-image/org.verbena/verbena-" + module
                + "/reachability-metadata.json").toFile());
    }

    /** The classes of the modules that a program may have in an image. */
    private static List<ClassModel> classes() throws IOException {
        List<ClassModel> all = new ArrayList<>();
        for (String module : MODULES) {
            Path at = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                    .filter(p -> p.contains("/verbena-" + module + "/")).map(Path::of).findFirst().orElseThrow();
            if (Files.isDirectory(at)) {
                addClasses(at, all);
            } else {
                try (FileSystem jar = FileSystems.newFileSystem(at)) {
                    addClasses(jar.getPath("/"), all);
                }
            }
        }
        return all;
    }

    private static void addClasses(Path root, Collection<ClassModel> to) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                to.add(ClassFile.of().parse(Files.readAllBytes(file)));
            }
        }
    }

    private static String name(ClassModel type) {
        return type.thisClass().asInternalName().replace('/', '.');
    }

    private static Set<String> callers(List<ClassModel> classes, Predicate<InvokeInstruction> of) {
        Set<String> callers = new TreeSet<>();
        for (ClassModel type : classes) {
            for (MethodModel method : type.methods()) {
                method.code().ifPresent(code -> {
                    for (var element : code) {
                        if (element instanceof InvokeInstruction call && of.test(call)) {
                            callers.add(name(type));
                        }
                    }
                });
            }
        }
        return callers;
    }

    // ---- downcalls

    @Test
    void everyFunctionThatIsLinkedIsRegistered() throws Exception {
        try {
            assertThat(SharedLibrary.open("libibverbs.so.1")).isNotNull();
        } catch (IOException e) {
            System.out.println("SKIPPED: libibverbs.so.1 is not installed (Debian: apt-get install libibverbs1)");
            Assumptions.abort(e.getMessage());
        }
        LinkRecorder loader = new LinkRecorder();
        for (String type : List.of("spi.Native", "spi.Downcall", "Sys$Clock")) {
            Class.forName("org.verbena.linux." + type, true, loader);
        }
        call(loader, "Sys", "callGetpagesize");
        call(loader, "LibIbverbs", "devices");
        Object libc = call(loader, "spi.SharedLibrary", "open", "libc.so.6");
        assertThat(libc).isNotNull();

        List<String> sites = classes().stream().flatMap(c -> LinkRecorder.sites(c).stream()).toList();
        assertThat(sites).as("the places that hand on a signature").hasSizeGreaterThan(10);
        assertThat(LinkRecorder.reached()).as(
                "the places that this test has reached: call here what is missing, so that"
                        + " what it links is seen").containsExactlyInAnyOrderElementsOf(sites);
        List<String> registered = new ArrayList<>();
        metadata("linux").get("foreign").get("downcalls").forEach(call -> registered.add(call.toString()));
        assertThat(registered).as("the lines of downcalls in the reachability metadata of verbena-linux")
                .containsExactlyInAnyOrderElementsOf(LinkRecorder.linked().stream().map(
                        ReachabilityMetadataTest::entry).collect(Collectors.toSet()));
        assertThat(metadata("linux").get("foreign").fieldNames()).toIterable().containsExactly("downcalls");
    }

    private static Object call(ClassLoader loader, String type, String name, String... arguments) throws Exception {
        Class<?>[] types = new Class<?>[arguments.length];
        Arrays.fill(types, String.class);
        Method method = Class.forName("org.verbena.linux." + type, true, loader).getDeclaredMethod(name, types);
        method.setAccessible(true);
        try {
            return method.invoke(null, (Object[]) arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof IOException failed) {
                return failed; // there may be no device
            }
            throw e;
        }
    }

    /** As GraalVM reads it. */
    private static String entry(LinkRecorder.Linked linked) {
        ObjectNode entry = JSON.createObjectNode();
        entry.put("returnType", linked.type().returnLayout().map(ReachabilityMetadataTest::type).orElse("void"));
        ArrayNode parameters = entry.putArray("parameterTypes");
        linked.type().argumentLayouts().forEach(l -> parameters.add(type(l)));
        if (!linked.options().isEmpty()) {
            ObjectNode options = entry.putObject("options");
            for (int i = 0; i <= linked.type().argumentLayouts().size(); i++) {
                if (linked.options().contains(Linker.Option.firstVariadicArg(i))) {
                    options.put("firstVariadicArg", i);
                }
            }
            if (linked.options().contains(Linker.Option.captureCallState("errno"))) {
                options.put("captureCallState", true);
            }
            for (boolean heap : new boolean[] {false, true}) {
                if (linked.options().contains(Linker.Option.critical(heap))) {
                    options.putObject("critical").put("allowHeapAccess", heap);
                }
            }
            assertThat(options.size()).as("options that are known here, of %s", linked.options()).isEqualTo(linked
                    .options().size());
        }
        return entry.toString();
    }

    private static String type(MemoryLayout layout) {
        return switch (layout) {
            case ValueLayout.OfLong _ -> "jlong";
            case ValueLayout.OfInt _ -> "jint";
            case AddressLayout _ -> "void*";
            default -> throw new AssertionError("which name has GraalVM for " + layout + "?");
        };
    }

    // ---- reflection

    /** A class that is new here needs its members in the metadata of its module, unless the text beside it says why not. */
    @Test
    void whoFindsMembersByNameIsKnown() throws IOException {
        Map<String, String> known = new TreeMap<>(Map.of(
                "org.verbena.verbs.AttributeText", "registered",
                "org.verbena.verbs.Feature", "registered",
                "org.verbena.telemetry.SamplePoints", "registered by the modules that have sample points",
                "org.verbena.verbs.UnlinkedProvider", "looks whether a class can be linked, which an image has settled",
                "org.verbena.sockets.jdk.SelectorDescriptor", "registered",
                "org.verbena.sockets.stream.SocketEvents$Quiet", "registered",
                "org.verbena.sockets.stream.FileHold$Jdk", "registered",
                "org.verbena.sockets.nio.PlainAcceptor", "with the agent only",
                "org.verbena.sockets.nio.JdkChanges", "with the agent only",
                "org.verbena.sockets.async.Pool", "a class that the program names, which it has to register"));
        assertThat(callers(classes(), ReachabilityMetadataTest::findsMembers)).containsExactlyElementsOf(known
                .keySet());
    }

    private static boolean findsMembers(InvokeInstruction call) {
        String owner = call.owner().asInternalName();
        String name = call.name().stringValue();
        return switch (owner) {
            case "java/lang/Class" -> name.equals("forName") || name.matches(
                    "get(Declared)?(Field|Method|Constructor)s?");
            case "java/lang/ClassLoader" -> name.equals("loadClass");
            case "java/lang/invoke/MethodHandles$Lookup" -> name.matches(
                    "find(Class|Getter|Setter|Virtual|Special|Static|Constructor|StaticGetter|StaticSetter)|unreflect.*");
            case "jdk/internal/access/JavaLangInvokeAccess" -> name.startsWith("find");
            default -> false;
        };
    }

    @Test
    void attributesThatAreTextsAreRegistered() throws IOException {
        Set<String> registered = new TreeSet<>();
        metadata("verbs").get("reflection").forEach(e -> {
            if (e.path("allDeclaredFields").asBoolean()) {
                registered.add(e.get("type").textValue());
            }
        });
        String text = "org/verbena/verbs/AttributeText";
        Set<String> expected = new TreeSet<>();
        expected.addAll(callers(classes(), c -> c.owner().asInternalName().equals(text) && c.typeSymbol()
                .parameterCount() == 1 && c.name().equalsString("of")));
        expected.remove("org.verbena.verbs.AttributeText"); // no class of attributes
        callers(classes(), c -> c.owner().asInternalName().equals(text) && c.typeSymbol().parameterCount() == 2
                && c.typeSymbol().parameterType(1).displayName().equals("Object") && c.name().equalsString("of"))
                .stream().filter(c -> !c.equals("org.verbena.verbs.AttributeText"))
                .forEach(c -> expected.add(c + "$Builder"));
        assertThat(registered).containsExactlyElementsOf(expected);
    }

    @Test
    void constantsWhoseNamesAreReadAreRegistered() throws IOException {
        Set<String> registered = new TreeSet<>();
        for (String module : List.of("verbs", "sockets", "erm")) {
            for (JsonNode entry : metadata(module).get("reflection")) {
                if (entry.path("allPublicFields").asBoolean()) {
                    registered.add(entry.get("type").textValue());
                }
            }
        }
        List<ClassModel> classes = classes();
        Set<String> readers = callers(classes, c -> c.owner().asInternalName().equals(
                "org/verbena/telemetry/SamplePoints") && c.name().equalsString("named"));
        Set<String> read = new TreeSet<>(Set.of("org.verbena.verbs.Feature"));
        classes.stream().filter(c -> readers.contains(name(c))).flatMap(c -> c.methods().stream()).flatMap(m -> m.code()
                .stream()).forEach(code -> code.forEach(element -> {
                    if (element instanceof ConstantInstruction constant && constant
                            .constantValue() instanceof ClassDesc type) {
                        read.add(type.packageName() + "." + type.displayName());
                    }
                }));
        assertThat(registered).containsExactlyElementsOf(read);
    }

    /** What is registered is there, under its name, in this JDK. */
    @Test
    void membersThatAreRegisteredExist() throws Exception {
        for (String module : List.of("verbs", "sockets", "erm")) {
            for (JsonNode entry : metadata(module).get("reflection")) {
                Class<?> type = Class.forName(entry.get("type").textValue(), false, getClass().getClassLoader());
                for (JsonNode field : entry.path("fields")) {
                    assertThat(type.getDeclaredFields()).anyMatch(f -> f.getName().equals(field.get("name")
                            .textValue()));
                }
                for (JsonNode method : entry.path("methods")) {
                    List<String> parameters = new ArrayList<>();
                    method.get("parameterTypes").forEach(p -> parameters.add(p.textValue()));
                    assertThat(type.getDeclaredMethods()).anyMatch(m -> m.getName().equals(method.get("name")
                            .textValue()) && Arrays.stream(m.getParameterTypes()).map(Class::getTypeName).toList()
                                    .equals(parameters));
                }
            }
        }
    }
}
