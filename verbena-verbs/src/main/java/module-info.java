// SPDX-License-Identifier: Apache-2.0
/** RDMA verbs for Java: the API, the rules that hold for every provider, and the provider SPI. */
@org.jspecify.annotations.NullMarked @SuppressWarnings("module") // the modules named in the qualified export are compiled after this one
module org.verbena.verbs {
    requires jdk.jfr;
    requires static org.jspecify;
    requires transitive org.verbena.linux;
    requires transitive org.verbena.telemetry;

    exports org.verbena.verbs;
    exports org.verbena.verbs.spi;
    exports org.verbena.verbs.telemetry to
            org.verbena.shm,
            org.verbena.roce,
            org.verbena.xdp;

    uses org.verbena.verbs.spi.VerbsProvider;

    provides org.verbena.telemetry.KindProvider with org.verbena.verbs.telemetry.VerbsKinds;
}
