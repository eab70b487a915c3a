// SPDX-License-Identifier: Apache-2.0
/** {@code verbena why}: what carries the connections of a process or a port, why, and what to change. */
@NullMarked
package org.verbena.cli.why;

import org.jspecify.annotations.NullMarked;
