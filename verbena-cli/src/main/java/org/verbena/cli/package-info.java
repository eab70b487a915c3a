// SPDX-License-Identifier: Apache-2.0
/**
 * The {@code verbena} command.
 *
 * <p>{@link org.verbena.cli.Main} holds the list of subcommands; each subcommand is one class. A command parses, calls
 * the public API and prints. {@code perf} and {@code copy} use their own protocols between two such commands; {@code
 * pingpong} and {@code rping} use those of rdma-core's programs. Exit codes: 0 ok, 1 failure, 2 wrong usage; {@code
 * copy} has more.
 */
@NullMarked
package org.verbena.cli;

import org.jspecify.annotations.NullMarked;
