// SPDX-License-Identifier: Apache-2.0
/** Raw packets of a network interface: XDP programs, flows and their counters, AF_XDP. */
@org.jspecify.annotations.NullMarked @SuppressWarnings("module") // the module named in the qualified export is compiled after this one
module org.verbena.xdp {
    requires static org.jspecify;
    requires transitive org.verbena.verbs;
    requires org.verbena.linux;
    requires org.verbena.telemetry;

    exports org.verbena.xdp.monitor to org.verbena.cli;

    provides org.verbena.verbs.spi.VerbsProvider with org.verbena.xdp.XdpProvider;
}
