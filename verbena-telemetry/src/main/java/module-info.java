// SPDX-License-Identifier: Apache-2.0
/**
 * What a process counts, for other processes and the Flight Recorder to read. It knows no kind of object by name: whichever
 * module counts something {@linkplain org.verbena.telemetry.KindProvider provides} the kinds of its objects.
 */
@org.jspecify.annotations.NullMarked module org.verbena.telemetry {
    requires static org.jspecify;
    requires transitive org.verbena.linux;
    requires transitive jdk.jfr;

    exports org.verbena.telemetry;

    uses org.verbena.telemetry.KindProvider;
}
