// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.verbena.testkit.ClassArchive;
import org.verbena.testkit.Jvm;

/**
 * The archive of the JDK's classes that the agent needs and that are not in the JDK's own. Programs of tests start from it
 * with the agent, which takes a fifth less of the processor. Classes of the agent cannot be in it, for they come from jars
 * inside its jar.
 */
public final class AgentArchive {
    private AgentArchive() {}

    private static final class Own {
        static final List<String> OPTIONS = make();
    }

    /** Options for a JVM of this JDK. */
    public static List<String> options() {
        return Own.OPTIONS;
    }

    private static List<String> make() {
        ClassArchive archive = new ClassArchive("agent");
        Path file = archive.of(List.of(AgentJar.onClassPath("agent")), made -> make(archive, made));
        return ClassArchive.options(file);
    }

    private static void make(ClassArchive archive, Path made) throws IOException, InterruptedException {
        Path list = archive.list();
        Path agent = AgentJar.in(archive.folder());
        archive.run(Jvm.command(), List.of("-javaagent:" + agent + "=quiet,stream.earn=0,stream.wait=60000",
                "-XX:DumpLoadedClassList=" + list), List.of("-cp", Jvm.classesOf(AgentTraining.class)
                        .toString(), AgentTraining.class.getName()));
        try (Stream<String> lines = Files.lines(list)) {
            List<String> jdks = lines.filter(line -> !line.contains(" source: ") && !line.startsWith("org/verbena/"))
                    .toList();
            Files.write(list, jdks);
        }
        archive.dump(made, Jvm.command("--add-modules=java.instrument"), List.of());
    }
}
