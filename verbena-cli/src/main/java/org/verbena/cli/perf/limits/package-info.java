// SPDX-License-Identifier: Apache-2.0
/**
 * The tests of what the machine itself can do, which the others are compared with: cache lines between two
 * processors, and copies of memory.
 */
@NullMarked
package org.verbena.cli.perf.limits;

import org.jspecify.annotations.NullMarked;
