// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.layers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

import org.verbena.tests.Repository;

/** What {@code mvn install} puts into the local repository: the jars that other projects can use, and only those. */
class InstalledModulesTest {
    private static final List<String> SKIPS = List.of("maven.install.skip", "maven.deploy.skip");

    private static List<String> texts(Path pom, String path) throws Exception {
        Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
        NodeList nodes = (NodeList) XPathFactory.newInstance().newXPath().evaluate(path, document,
                XPathConstants.NODESET);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            texts.add(nodes.item(i).getTextContent().strip());
        }
        return texts;
    }

    /** A module without main classes has no jar, which maven-install-plugin refuses. */
    @Test
    void modulesForThisTreeAreNotInstalled() throws Exception {
        Path root = Repository.root();
        List<String> modules = texts(root.resolve("pom.xml"), "/project/modules/module");
        TreeSet<String> installed = new TreeSet<>();
        for (String module : modules) {
            Path pom = root.resolve(module).resolve("pom.xml");
            for (String skip : SKIPS) {
                if (!texts(pom, "/project/properties/" + skip).equals(List.of("true"))) {
                    installed.add(module);
                    assertThat(Files.isDirectory(root.resolve(module).resolve("src/main/java"))).as(module).isTrue();
                }
            }
        }
        assertThat(modules).contains("verbena-testkit", "verbena-conformance", "verbena-tests", "verbena-late-tests",
                "verbena-apps", "verbena-bench");
        assertThat(installed).isEqualTo(new TreeSet<>(modules.stream()
                .filter(m -> !m.matches("verbena-(testkit|conformance|tests|late-tests|apps|bench)")).toList()));
    }
}
