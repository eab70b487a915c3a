// SPDX-License-Identifier: Apache-2.0
/**
 * {@code verbena perf}: measures latency, bandwidth and connections of verbs, remote memory, channels and plain sockets,
 * in two processes.
 *
 * <p>Here are the command and the processes that it starts. Their two sides are in {@code session}, which opens the
 * tests of {@code limits}, {@code verbs}, {@code datagrams}, {@code sockets} and {@code erm}; what all of these are made
 * of is in {@code run}. {@code report} shows what they have measured.
 */
@NullMarked
package org.verbena.cli.perf;

import org.jspecify.annotations.NullMarked;
