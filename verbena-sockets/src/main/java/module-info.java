/**
 * TCP sockets that carry their bytes through rings in registered memory where both ends can, and by the kernel where
 * not: channels, a selector, classic sockets.
 *
 * <p>The module needs two packages of the JDK: {@code --add-exports java.base/sun.nio.ch=org.verbena.sockets} and
 * {@code --add-exports java.base/sun.net=org.verbena.sockets}. The agent and {@code verbena run} give them.
 */
@org.jspecify.annotations.NullMarked @SuppressWarnings("module") // the command is compiled after this one
module org.verbena.sockets {
    requires static transitive org.jspecify;
    requires org.verbena.linux;
    requires org.verbena.verbs;

    exports org.verbena.sockets;
    exports org.verbena.sockets.rules to
            org.verbena.cli;
    exports org.verbena.sockets.spi to
            org.verbena.erm;
}
