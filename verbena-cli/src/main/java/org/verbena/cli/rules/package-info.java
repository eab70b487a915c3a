// SPDX-License-Identifier: Apache-2.0
/** {@code verbena rules}: what rules of the transport mean for a connection. */
@NullMarked
package org.verbena.cli.rules;

import org.jspecify.annotations.NullMarked;
