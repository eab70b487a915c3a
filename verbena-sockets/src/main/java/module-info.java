// SPDX-License-Identifier: Apache-2.0
/**
 * TCP sockets that carry their bytes through rings in registered memory where both ends can, and by the kernel where
 * not: channels, a selector, classic sockets.
 *
 * <p>The module needs two packages of the JDK: {@code --add-exports java.base/sun.nio.ch=org.verbena.sockets} and
 * {@code --add-exports java.base/sun.net=org.verbena.sockets}. With a third, {@code java.base/jdk.internal.access}, it keeps
 * an arena from being closed while an operation uses its memory, as the JDK's channels do, reads files straight into
 * rings, and lets a selector sleep at a futex although it has a listener, too; without it memory is checked as an operation begins, and an arena that is closed under it makes it fail. With a fourth, {@code java.base/jdk.internal.event},
 * the Flight Recorder's events of sockets have what rings carry. The agent and {@code verbena run} give all four.
 */
@org.jspecify.annotations.NullMarked @SuppressWarnings("module") // the command is compiled after this one
module org.verbena.sockets {
    requires jdk.jfr;
    requires static transitive org.jspecify;
    requires org.verbena.linux;
    requires org.verbena.telemetry;
    requires transitive org.verbena.verbs;

    exports org.verbena.sockets;
    exports org.verbena.sockets.extra;
    exports org.verbena.sockets.rules to
            org.verbena.cli;
    exports org.verbena.sockets.spi to
            org.verbena.erm;
    exports org.verbena.sockets.memory to
            org.verbena.erm;
    exports org.verbena.sockets.telemetry to
            org.verbena.erm;

    provides org.verbena.telemetry.KindProvider with org.verbena.sockets.telemetry.SocketKinds;
}
