// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import java.time.Instant;
import java.util.List;

import org.verbena.cli.doctor.SocketConditions;

/**
 * All that is answered. Immutable.
 *
 * @param port that was asked about; 0 for a process
 * @param processes one, or those that have the port
 * @param notes sentences about all of them
 * @param host what was tried on this machine
 */
record WhyAnswer(Instant time, int port, List<WhyProcess> processes, List<String> notes,
        List<SocketConditions.Condition> host) {}
