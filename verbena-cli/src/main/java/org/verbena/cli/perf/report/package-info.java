// SPDX-License-Identifier: Apache-2.0
/**
 * What a run tells people and programs: progress, tables, JSON, CSV and files, compared with each other and with an
 * earlier run.
 */
@NullMarked
package org.verbena.cli.perf.report;

import org.jspecify.annotations.NullMarked;
