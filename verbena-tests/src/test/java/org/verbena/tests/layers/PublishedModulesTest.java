// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.layers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

import org.verbena.tests.Repository;

/** Published modules have the contents that Maven Central requires, and all POMs and documents name one version. */
class PublishedModulesTest {
    /** Set in the modules that are for this tree alone. */
    private static final List<String> KEPT = List.of("maven.install.skip", "maven.deploy.skip", "maven.source.skip",
            "maven.javadoc.skip", "cyclonedx.skip");
    private static final List<String> ASKED = List.of("url", "organization", "licenses", "developers", "scm");
    private static final String BOM = "verbena-bom";
    /** A version that a document tells to depend on. */
    private static final Pattern DEPENDED = Pattern.compile(
            "<groupId>org\\.verbena</groupId>\\s*<artifactId>[a-z-]+</artifactId>(?:\\s|<!--.*?-->)*<version>([^<]*)</version>");

    private final Element parent = parse(Repository.root());

    private static Element parse(Path folder) {
        try {
            return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(folder.resolve("pom.xml").toFile())
                    .getDocumentElement();
        } catch (Exception e) {
            throw new AssertionError(folder.toString(), e);
        }
    }

    /** The elements that are children of another and have this name. */
    private static List<Element> children(Element of, String name) {
        List<Element> found = new ArrayList<>();
        NodeList all = of.getChildNodes();
        for (int i = 0; i < all.getLength(); i++) {
            if (all.item(i).getNodeType() == Node.ELEMENT_NODE && all.item(i).getNodeName().equals(name)) {
                found.add((Element) all.item(i));
            }
        }
        return found;
    }

    private static String text(Element of, String... path) {
        Element at = of;
        for (String name : path) {
            List<Element> next = children(at, name);
            assertThat(next).as("%s of %s", name, at.getNodeName()).hasSize(1);
            at = next.getFirst();
        }
        return at.getTextContent().strip().replaceAll("\\s+", " ");
    }

    /** The modules of the build with their POMs, but for the bill of materials. */
    private Map<String, Element> modules() {
        Map<String, Element> all = new LinkedHashMap<>();
        for (Element module : children(children(parent, "modules").getFirst(), "module")) {
            String name = module.getTextContent().strip();
            if (!name.equals(BOM)) {
                all.put(name, parse(Repository.root().resolve(name)));
            }
        }
        return all;
    }

    private static boolean isPublished(Element pom) {
        List<Element> properties = children(pom, "properties");
        long kept = properties.isEmpty()
                ? 0
                : KEPT.stream().filter(k -> !children(properties.getFirst(), k).isEmpty())
                        .filter(k -> text(properties.getFirst(), k).equals("true")).count();
        assertThat(kept).as("of %s in %s", KEPT, text(pom, "artifactId")).isIn(0L, (long) KEPT.size());
        return kept == 0;
    }

    private List<String> published() {
        return modules().entrySet().stream().filter(e -> isPublished(e.getValue())).map(Map.Entry::getKey).toList();
    }

    @Test
    void billOfMaterialsHasThePublishedModulesAndNoOthers() {
        Element bom = parse(Repository.root().resolve(BOM));
        assertThat(children(bom, "parent")).as("who imports it would get what the build needs").isEmpty();
        assertThat(text(bom, "version")).isEqualTo(text(parent, "version"));
        List<Element> managed = children(children(children(bom, "dependencyManagement").getFirst(), "dependencies")
                .getFirst(), "dependency");
        assertThat(managed).allSatisfy(d -> {
            assertThat(text(d, "groupId")).isEqualTo("org.verbena");
            assertThat(text(d, "version")).isEqualTo("${project.version}");
        });
        assertThat(managed.stream().map(d -> text(d, "artifactId"))).containsExactlyInAnyOrderElementsOf(published());
    }

    /** A module without main classes has no jar, which maven-install-plugin refuses. */
    @Test
    void modulesForThisTreeAreNotInstalled() {
        assertThat(modules().keySet().stream().filter(m -> !published().contains(m))).containsExactlyInAnyOrder(
                "verbena-testkit", "verbena-conformance", "verbena-tests", "verbena-late-tests", "verbena-apps",
                "verbena-bench");
        assertThat(published()).allSatisfy(m -> assertThat(Repository.root().resolve(m).resolve("src/main/java"))
                .isDirectory());
    }

    @Test
    void pomsSayWhatMavenCentralAsksFor() {
        Element bom = parse(Repository.root().resolve(BOM));
        for (String element : ASKED) {
            assertThat(text(bom, element)).as(element).isNotEmpty().isEqualTo(text(parent, element));
        }
        assertThat(text(parent, "licenses", "license", "name")).isEqualTo("Apache-2.0");
        assertThat(text(parent, "licenses", "license", "url")).startsWith("https://");
        assertThat(text(parent, "developers", "developer", "name")).isNotEmpty();
        assertThat(text(parent, "scm", "connection")).startsWith("scm:git:https://");
        assertThat(text(parent, "scm", "url")).startsWith("https://");
        modules().forEach((name, pom) -> {
            assertThat(text(pom, "parent", "version")).as(name).isEqualTo(text(parent, "version"));
            assertThat(text(pom, "name")).as(name).startsWith("Verbena ");
            assertThat(text(pom, "description")).as(name).isNotEmpty();
        });
    }

    @TestFactory
    Stream<DynamicTest> everyArtifactHasItsLicenceAndVersion() {
        return published().stream().map(name -> DynamicTest.dynamicTest(name, () -> {
            byte[] licence = Files.readAllBytes(Repository.root().resolve("LICENSE"));
            Path artifact = onClassPath(name);
            if (Files.isDirectory(artifact)) { // a build that ends with the tests makes no jars
                assertThat(artifact.resolve("META-INF/LICENSE")).hasBinaryContent(licence);
                return;
            }
            try (JarFile jar = new JarFile(artifact.toFile())) {
                try (InputStream in = jar.getInputStream(jar.getEntry("META-INF/LICENSE"))) {
                    assertThat(in.readAllBytes()).isEqualTo(licence);
                }
                Attributes said = jar.getManifest().getMainAttributes();
                assertThat(said.getValue(Attributes.Name.IMPLEMENTATION_TITLE)).startsWith("Verbena ");
                assertThat(said.getValue(Attributes.Name.IMPLEMENTATION_VERSION)).isEqualTo(text(parent, "version"));
                assertThat(said.keySet().stream().map(Object::toString)).doesNotContain("Built-By", "Build-Jdk",
                        "Created-By");
            }
        }));
    }

    private static Path onClassPath(String module) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(p -> p.contains("/" + module + "/")).map(Path::of).findFirst()
                .orElseThrow(() -> new AssertionError(module
                        + " is published, and not on the class path of this test"));
    }

    @Test
    void documentsNameTheVersionOfTheBuild() throws IOException {
        List<String> named = new ArrayList<>();
        for (Path file : Repository.files()) {
            if (file.toString().endsWith(".md")) {
                DEPENDED.matcher(Files.readString(file)).results().forEach(m -> named.add(m.group(1)));
            }
        }
        assertThat(named).hasSizeGreaterThan(3).containsOnly(text(parent, "version"));
        assertThat(Files.readString(Repository.root().resolve("CHANGELOG.md"))).as("what is next, or was released last")
                .containsPattern("(?m)^## \\[(Unreleased\\] )?" + Pattern.quote(text(parent, "version").replace(
                        "-SNAPSHOT", "")));
    }

    /** One promise, in the words of docs/extending.md. */
    @Test
    void readmeAndExtendingPromiseTheSame() throws IOException {
        assertThat(promise("README.md")).hasSizeGreaterThan(300).isEqualTo(promise("docs/extending.md"));
    }

    /** The paragraph about compatibility, without where it breaks lines and how it links. */
    private static String promise(String document) throws IOException {
        String all = Files.readString(Repository.root().resolve(document));
        int begins = all.indexOf("**Compatibility.**");
        assertThat(begins).as("the promise in " + document).isPositive();
        return all.substring(begins, all.indexOf("\n\n", begins)).replaceAll("\\s+", " ").replaceAll(
                "\\[([^\\]]*)\\]\\([^)]*\\)", "$1");
    }
}
