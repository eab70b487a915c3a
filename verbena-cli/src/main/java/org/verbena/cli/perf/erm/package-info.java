// SPDX-License-Identifier: Apache-2.0
/** The tests of remote memory: copies between two processes, and registration. */
@NullMarked
package org.verbena.cli.perf.erm;

import org.jspecify.annotations.NullMarked;
