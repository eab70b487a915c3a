// SPDX-License-Identifier: Apache-2.0
/** The counters of this process as Micrometer's meters. */
@SuppressWarnings("requires-transitive-automatic") // Micrometer's jars name their modules, and do not describe them
@org.jspecify.annotations.NullMarked module org.verbena.micrometer {
    requires static org.jspecify;
    requires org.verbena.telemetry;
    requires org.verbena.verbs;
    requires transitive micrometer.core;

    exports org.verbena.micrometer;
}
