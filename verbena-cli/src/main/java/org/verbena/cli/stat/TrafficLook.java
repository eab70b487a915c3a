// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.time.Instant;

import org.verbena.xdp.monitor.MonitorSample;

/**
 * A sample of a monitored interface.
 *
 * @param xdp the XDP program that the interface has then; empty without
 */
record TrafficLook(Instant time, MonitorSample sample, String xdp) {}
