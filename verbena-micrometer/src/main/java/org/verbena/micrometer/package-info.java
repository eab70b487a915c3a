// SPDX-License-Identifier: Apache-2.0
/**
 * What Verbena counts in this process, as meters of Micrometer: {@link org.verbena.micrometer.VerbsMetrics}.
 *
 * <p>The numbers are those of {@link org.verbena.verbs.RemoteProcess#current()}. Nothing is counted a second time, and
 * while no registry publishes, nothing is done at all.
 *
 * <p>It does not read other processes, and is no exporter. The choice of the registry, and how it publishes, is the
 * application's.
 */
package org.verbena.micrometer;
