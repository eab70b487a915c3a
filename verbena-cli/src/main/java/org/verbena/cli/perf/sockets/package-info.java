// SPDX-License-Identifier: Apache-2.0
/** The tests of TCP: sockets of the kernel, and channels of Verbena or of the JDK. */
@NullMarked
package org.verbena.cli.perf.sockets;

import org.jspecify.annotations.NullMarked;
