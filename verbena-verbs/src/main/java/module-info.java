// SPDX-License-Identifier: Apache-2.0
/** RDMA verbs for Java: the API, the rules that hold for every provider, and the provider SPI. */
@org.jspecify.annotations.NullMarked module org.verbena.verbs {
    requires jdk.jfr;
    requires static org.jspecify;
    requires transitive org.verbena.linux;

    exports org.verbena.verbs;
    exports org.verbena.verbs.spi;

    uses org.verbena.verbs.spi.VerbsProvider;
}
