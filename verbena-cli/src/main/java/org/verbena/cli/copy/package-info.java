// SPDX-License-Identifier: Apache-2.0
/** {@code verbena copy}: files between processes of one host and of two, through remote memory. */
@NullMarked
package org.verbena.cli.copy;

import org.jspecify.annotations.NullMarked;
