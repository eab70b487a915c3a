// SPDX-License-Identifier: Apache-2.0
/**
 * What Verbena counts in this process, as meters of Micrometer: {@link org.verbena.micrometer.VerbsMetrics}.
 *
 * <p>The numbers are those that {@link org.verbena.verbs.RemoteProcess#current()} shows. Nothing is counted a second time,
 * and while no registry publishes, nothing is done at all.
 *
 * <p>What this is not: a way to look at other processes, and no exporter. Which registry there is, and how it publishes,
 * is the application's.
 */
package org.verbena.micrometer;
