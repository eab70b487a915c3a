// SPDX-License-Identifier: Apache-2.0
/**
 * The counter file. A process writes it with {@link org.verbena.telemetry.CounterFile} and
 * {@link org.verbena.telemetry.CounterEntry}, and any process of its user reads it with
 * {@link org.verbena.telemetry.ProcessCounters}. What the entries mean is an open set: see
 * {@link org.verbena.telemetry.ObjectKind}.
 */
package org.verbena.telemetry;
