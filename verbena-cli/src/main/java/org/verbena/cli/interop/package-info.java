// SPDX-License-Identifier: Apache-2.0
/** The programs of librdmacm, libibverbs and perftest in Java, with their protocols: {@code rping}, {@code cmatose}, {@code udaddy}, {@code rstream}, {@code pingpong} and {@code perftest}. */
@NullMarked
package org.verbena.cli.interop;

import org.jspecify.annotations.NullMarked;
