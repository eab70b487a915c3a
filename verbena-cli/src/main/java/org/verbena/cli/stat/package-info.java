// SPDX-License-Identifier: Apache-2.0
/** {@code verbena stat} and {@code verbena monitor}: the counters of running processes as tables, lines, JSON and a screen. */
@NullMarked
package org.verbena.cli.stat;

import org.jspecify.annotations.NullMarked;
