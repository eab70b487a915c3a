// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.layers;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Holds the design's table of modules: arrows go down only, and a core module needs nothing but the JDK and JSpecify.
 * A new module needs a line in {@link #MAY_USE}; a new library of a tool one in {@link #LIBRARIES}.
 */
class LayersTest {
    private static final String ROOT = "org.verbena";

    /** Each module and what it may use of the others. */
    private static final Map<String, List<String>> MAY_USE = new TreeMap<>(Map.ofEntries(
            Map.entry("linux", List.of()),
            Map.entry("telemetry", List.of("linux")),
            Map.entry("verbs", List.of("telemetry", "linux")),
            Map.entry("shm", List.of("verbs", "telemetry", "linux")),
            Map.entry("roce", List.of("verbs", "telemetry", "linux")),
            Map.entry("rdmacore", List.of("verbs", "linux")),
            Map.entry("xdp", List.of("verbs", "telemetry", "linux")),
            Map.entry("stack", List.of("verbs", "telemetry", "linux")),
            Map.entry("micrometer", List.of("verbs", "telemetry")),
            Map.entry("sockets", List.of("verbs", "telemetry", "linux")),
            Map.entry("erm", List.of("sockets", "verbs", "telemetry", "linux")),
            Map.entry("agent", List.of()), // it finds the others by name, in another class loader
            Map.entry("cli", List.of("shm", "xdp", "stack", "erm", "sockets", "verbs", "telemetry", "linux"))));

    /** Libraries beyond the JDK. What is not named here is core and has none; Unsafe is not the JDK's API. */
    private static final Map<String, List<String>> LIBRARIES = Map.of(
            "telemetry", List.of("jdk.jfr"), // the JDK's: events of the Flight Recorder
            "verbs", List.of("jdk.jfr"),
            // the JDK's: what its own channels are made of, and how they hold arenas
            "sockets", List.of("sun.nio.ch", "sun.net", "jdk.internal.access", "jdk.internal.event", "jdk.jfr"),
            // the JDK's: modules without a layer, and native access for modules that have none yet
            "agent", List.of("jdk.internal.access", "jdk.internal.module"),
            "micrometer", List.of("io.micrometer.core.."),
            "cli", List.of("picocli..", "com.fasterxml.jackson..", "org.HdrHistogram..", "org.jline..",
                    "com.sun.management", "com.sun.tools.attach")); // the JDK's too

    /**
     * Classes of a module's root package through which programs reach what other packages implement, as through the static
     * factories of {@code java.nio.channels}. They alone may use those packages, which use the root package's types; both
     * are API and cannot move.
     *
     * <p>verbs: {@code Verbs} finds providers by the SPI, whose methods are about the root package's types, and
     * {@code Gid} is printed by the SPI's toolkit. sockets: the JDK and programs name the two providers, which make
     * channels that extend the root package's; {@code Verbena} sets rules; the agent names {@code DropIn}.
     */
    private static final Map<String, Set<String>> DOORS = Map.of(
            "verbs", Set.of("ProviderRegistry", "UnlinkedProvider", "Gid"),
            "sockets", Set.of("VerbenaSelectorProvider", "VerbenaAsynchronousChannelProvider", "Verbena", "DropIn"));

    /** Tests are in packages of the modules, too. ArchUnit's own option knows target/test-classes, and not target/fast/test-classes. */
    private static final ImportOption MAIN = location -> !location.contains("/test-classes/");

    private static final JavaClasses VERBENA = new ClassFileImporter()
            .withImportOption(MAIN)
            .importPackages(MAY_USE.keySet().stream().map(module -> ROOT + "." + module).toList());

    @TestFactory
    Stream<DynamicTest> everyModuleUsesOnlyWhatTheTableAllows() {
        return MAY_USE.keySet().stream()
                .map(module -> DynamicTest.dynamicTest(module, () -> onlyWhatIsAllowed(ROOT, module).check(VERBENA)));
    }

    @Test
    void everyModuleIsChecked() {
        assertThat(MAY_USE.keySet()).allSatisfy(module -> assertThat(VERBENA)
                .as("classes of %s.%s", ROOT, module)
                .anyMatch(type -> type.getPackageName().startsWith(ROOT + "." + module)));
    }

    @TestFactory
    Stream<DynamicTest> packagesOfAModuleHaveNoCycles() {
        return MAY_USE.keySet().stream()
                .map(module -> DynamicTest.dynamicTest(module, () -> noCycles(ROOT, module, doors(module)).check(
                        VERBENA)));
    }

    /** Of the fixture, two packages of a module use each other. */
    @Test
    void cycleIsDetected() {
        String root = getClass().getPackageName() + ".fixture";
        JavaClasses fixture = new ClassFileImporter().importPackages(root);
        assertThatThrownBy(() -> noCycles(root, "ring", Set.of()).check(fixture))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Cycle detected")
                .hasMessageContaining("fixture.ring.other");
        noCycles(root, "cli", Set.of()).check(fixture);
        noCycles(root, "ring", Set.of("Here")).check(fixture);
    }

    /** No exception without a use. */
    @Test
    void everyDoorUsesAnotherPackageOfItsModule() {
        DOORS.forEach((module, doors) -> assertThat(doors).allSatisfy(door -> assertThat(VERBENA)
                .as("%s of %s", door, module)
                .anyMatch(type -> isDoor(type, ROOT + "." + module, Set.of(door)) && type
                        .getDirectDependenciesFromSelf()
                        .stream().anyMatch(d -> d.getTargetClass().getPackageName().startsWith(ROOT + "." + module
                                + ".")))));
    }

    private static Set<String> doors(String module) {
        return DOORS.getOrDefault(module, Set.of());
    }

    /** True for a class of the root package, or one nested in it, of one of these names. */
    private static boolean isDoor(JavaClass type, String rootPackage, Set<String> doors) {
        if (!type.getPackageName().equals(rootPackage)) {
            return false;
        }
        String name = type.getName().substring(rootPackage.length() + 1);
        return doors.contains(name.contains("$") ? name.substring(0, name.indexOf('$')) : name);
    }

    /** The fixture has an arrow that goes up, a library and java.util.logging: the rule must find each. */
    @Test
    void forbiddenUseIsDetected() {
        String root = getClass().getPackageName() + ".fixture";
        JavaClasses fixture = new ClassFileImporter().importPackages(root);
        assertThatThrownBy(() -> onlyWhatIsAllowed(root, "linux").check(fixture))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("fixture.cli.High")
                .hasMessageContaining("org.assertj.core.api.Assertions")
                .hasMessageContaining("java.util.logging.Logger");
        onlyWhatIsAllowed(root, "cli").check(fixture);
    }

    private static ArchRule noCycles(String root, String module, Set<String> doors) {
        String name = root + "." + module;
        return SlicesRuleDefinition.slices().assignedFrom(new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                String room = type.getPackageName();
                boolean counts = room.equals(name) || room.startsWith(name + ".");
                return counts ? SliceIdentifier.of(room) : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "packages of " + name;
            }
        }).should().beFreeOfCycles()
                .ignoreDependency(DescribedPredicate.describe("doors", (JavaClass type) -> isDoor(type, name, doors)),
                        DescribedPredicate.alwaysTrue())
                .allowEmptyShould(true);
    }

    private static ArchRule onlyWhatIsAllowed(String root, String module) {
        List<String> allowed = new ArrayList<>(List.of("java..", "org.jspecify.annotations", root + "." + module
                + ".."));
        MAY_USE.get(module).forEach(lower -> allowed.add(root + "." + lower + ".."));
        allowed.addAll(LIBRARIES.getOrDefault(module, List.of()));
        return classes().that().resideInAPackage(root + "." + module + "..")
                .should().onlyDependOnClassesThat(resideInAnyPackage(allowed.toArray(String[]::new))
                        .and(not(resideInAPackage("java.util.logging.."))))
                .allowEmptyShould(true); // everyModuleIsChecked stands against emptiness
    }
}
