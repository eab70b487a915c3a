// SPDX-License-Identifier: Apache-2.0
/** The provider {@code roce_<netdev>}: the InfiniBand transport in Java over UDP, RoCEv2 on the wire. */
@org.jspecify.annotations.NullMarked module org.verbena.roce {
    requires static org.jspecify;
    requires transitive org.verbena.verbs;
    requires org.verbena.linux;
    requires org.verbena.telemetry;

    provides org.verbena.verbs.spi.VerbsProvider with org.verbena.roce.RoceProvider;
}
