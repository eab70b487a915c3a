// SPDX-License-Identifier: Apache-2.0
/** A provider as a module: nothing is exported, the service is all that anybody sees. */
module org.example.devnull {
    requires org.verbena.verbs;

    provides org.verbena.verbs.spi.VerbsProvider with org.example.devnull.NullProvider;
}
