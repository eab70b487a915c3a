// SPDX-License-Identifier: Apache-2.0
/** {@code verbena rules}: the effect of transport rules on a connection. */
@NullMarked
package org.verbena.cli.rules;

import org.jspecify.annotations.NullMarked;
