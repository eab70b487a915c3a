// SPDX-License-Identifier: Apache-2.0
/** TCP/IP in user space, over queue pairs for raw packets. */
@org.jspecify.annotations.NullMarked module org.verbena.stack {
    requires static org.jspecify;
    requires transitive org.verbena.verbs;
    requires org.verbena.linux;
    requires org.verbena.telemetry;

    exports org.verbena.stack;
    exports org.verbena.stack.model;

    provides org.verbena.telemetry.KindProvider with org.verbena.stack.telemetry.StackKinds;
}
