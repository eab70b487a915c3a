// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.util.List;

import org.verbena.testkit.ClassPathArchive;

/** The archive of classes that a {@link PeerProcess} starts from: a suite starts more than fifty. */
final class PeerArchive {
    private static final ClassPathArchive ARCHIVE = new ClassPathArchive("conformance-peers", PeerProcess.java(),
            PeerTraining.class.getName());

    private PeerArchive() {}

    /** Options with the class path of this JVM's, and the archive. */
    static List<String> classPath() {
        return ARCHIVE.classPath();
    }
}
