// SPDX-License-Identifier: Apache-2.0
/**
 * {@code verbena sockperf}: the benchmark of sockets with the modes, options, messages and output of Mellanox's sockperf, against
 * whose server and client it runs. A client sends numbered messages ({@link org.verbena.cli.sockperf.Message}) by some
 * {@link org.verbena.cli.sockperf.Link links} and notes when each was sent and answered
 * ({@link org.verbena.cli.sockperf.Times}), from which {@link org.verbena.cli.sockperf.Statistics} are made after the run.
 */
@org.jspecify.annotations.NullMarked
package org.verbena.cli.sockperf;
