// SPDX-License-Identifier: Apache-2.0
/** The provider of every device that libibverbs finds: the C library of the verbs, called as it is installed. */
@org.jspecify.annotations.NullMarked module org.verbena.rdmacore {
    requires static org.jspecify;
    requires transitive org.verbena.verbs;
    requires org.verbena.linux;

    provides org.verbena.verbs.spi.VerbsProvider with org.verbena.rdmacore.RdmaProvider;
}
