// SPDX-License-Identifier: Apache-2.0
/**
 * What verbs objects publish in the counter file and the Flight Recorder: the meaning of their entries, and the events that providers
 * report by {@link org.verbena.verbs.telemetry.FlightEvents}.
 */
package org.verbena.verbs.telemetry;
