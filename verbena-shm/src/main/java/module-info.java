// SPDX-License-Identifier: Apache-2.0
/** The provider {@code shm0}: queue pairs between processes and threads of one host through shared memory. */
@org.jspecify.annotations.NullMarked module org.verbena.shm {
    requires static org.jspecify;
    requires transitive org.verbena.verbs;
    requires org.verbena.linux;
    requires org.verbena.telemetry;

    provides org.verbena.verbs.spi.VerbsProvider with org.verbena.shm.ShmProvider;
}
