// SPDX-License-Identifier: Apache-2.0
/** {@code verbena perf}: measures latency, bandwidth and connections of verbs, remote memory, channels and plain sockets, in two processes. */
@NullMarked
package org.verbena.cli.perf;

import org.jspecify.annotations.NullMarked;
