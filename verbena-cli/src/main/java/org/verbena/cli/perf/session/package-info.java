// SPDX-License-Identifier: Apache-2.0
/**
 * The two sides of a measurement: what is to be measured, the process that measures, the one that is measured
 * against, and the results.
 */
@NullMarked
package org.verbena.cli.perf.session;

import org.jspecify.annotations.NullMarked;
