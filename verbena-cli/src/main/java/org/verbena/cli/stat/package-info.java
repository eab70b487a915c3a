// SPDX-License-Identifier: Apache-2.0
/**
 * {@code verbena stat} and {@code verbena monitor}: show the counters of running processes as tables, lines, JSON and a
 * full-screen view.
 */
@NullMarked
package org.verbena.cli.stat;

import org.jspecify.annotations.NullMarked;
