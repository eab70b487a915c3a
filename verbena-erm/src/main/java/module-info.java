// SPDX-License-Identifier: Apache-2.0
/** Memory of the other end of a connected socket, to copy to and from: remote memory as SMC-ERM has it. */
@org.jspecify.annotations.NullMarked module org.verbena.erm {
    requires static org.jspecify;
    requires org.verbena.linux;
    requires org.verbena.sockets;
    requires org.verbena.telemetry;
    requires transitive org.verbena.verbs;

    exports org.verbena.erm;
    exports org.verbena.erm.smc;

    provides org.verbena.telemetry.KindProvider with org.verbena.erm.telemetry.RemoteMemoryKinds;
}
