// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.verbena.testkit.Jvm;
import org.verbena.tests.Repository;
import org.verbena.tests.agent.AgentJar;

/** The applications and the agent that the build has created. */
public final class Applications {
    private Applications() {}

    /** The jar of the agent is created once per test JVM, if the build has not created it. */
    private static final class Agent {
        static final Path JAR = jar();

        private static Path jar() {
            try {
                Path folder = Files.createTempDirectory("verbena-agent");
                Path jar = AgentJar.in(folder);
                folder.toFile().deleteOnExit(); // the last one is deleted first
                folder.resolve(jar.getFileName()).toFile().deleteOnExit(); // not the build's own, if it has made one
                return jar;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static Path agent() {
        return Agent.JAR;
    }

    /** verbena-apps/target, or the one of the build that compiled this test. */
    public static Path target() {
        Path tests = Repository.root().resolve("verbena-tests");
        Path classes = Jvm.classesOf(Applications.class);
        Path target = Repository.root().resolve("verbena-apps").resolve(tests.relativize(classes).getParent());
        if (!Files.isDirectory(target.resolve("lib"))) {
            throw new AssertionError("there are no applications in " + target
                    + ": mvn -pl verbena-tests -am test-compile makes them");
        }
        return target;
    }

    static String classPath() {
        return App.path(target().resolve("classes"), target().resolve("lib/*"));
    }
}
