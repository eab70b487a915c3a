// SPDX-License-Identifier: Apache-2.0
/**
 * What every test of {@code verbena perf} is made of: the job that says what to do, the loop that is timed, the
 * times at which messages are sent, and the line to the other process.
 */
@NullMarked
package org.verbena.cli.perf.run;

import org.jspecify.annotations.NullMarked;
