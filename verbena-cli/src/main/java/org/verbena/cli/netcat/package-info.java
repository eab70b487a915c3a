// SPDX-License-Identifier: Apache-2.0
/** {@code verbena netcat}: standard input and output as the two ends of a connection, or of datagrams, of a stack in user space. */
@NullMarked
package org.verbena.cli.netcat;

import org.jspecify.annotations.NullMarked;
