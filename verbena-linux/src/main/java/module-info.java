// SPDX-License-Identifier: Apache-2.0
/**
 * Linux system calls for the JVM through the Foreign Function &amp; Memory API: one class a subject, errors as
 * {@link org.verbena.linux.LinuxException}, no native library of our own.
 *
 * <p>The module needs native access: {@code --enable-native-access=org.verbena.linux}.
 */
@org.jspecify.annotations.NullMarked @SuppressWarnings("module") // the modules named in the qualified export are compiled after this one
module org.verbena.linux {
    requires static transitive org.jspecify;

    exports org.verbena.linux;
    exports org.verbena.linux.spi to
            org.verbena.telemetry,
            org.verbena.verbs,
            org.verbena.shm,
            org.verbena.roce,
            org.verbena.rdmacore,
            org.verbena.xdp,
            org.verbena.erm;
}
