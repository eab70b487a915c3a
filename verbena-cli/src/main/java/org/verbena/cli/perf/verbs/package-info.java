// SPDX-License-Identifier: Apache-2.0
/** The tests of verbs: writes, sends, reads and atomic operations between two queue pairs. */
@NullMarked
package org.verbena.cli.perf.verbs;

import org.jspecify.annotations.NullMarked;
