// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.util.ArrayList;
import java.util.List;

import org.verbena.testkit.ClassPathArchive;

/** The archive of classes that a {@link Child} starts from. */
final class ChildArchive {
    private static final ClassPathArchive ARCHIVE = new ClassPathArchive("children", command(), ArchiveTraining.class
            .getName());

    private ChildArchive() {}

    private static List<String> command() {
        List<String> command = new ArrayList<>(Child.JAVA);
        command.addAll(Child.ACCESS);
        return command;
    }

    /** Options with the class path of this JVM's, and the archive. */
    static List<String> classPath() {
        return ARCHIVE.classPath();
    }
}
