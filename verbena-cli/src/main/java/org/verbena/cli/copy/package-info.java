// SPDX-License-Identifier: Apache-2.0
/** {@code verbena copy}: copies files between processes of one host or of two through remote memory. */
@NullMarked
package org.verbena.cli.copy;

import org.jspecify.annotations.NullMarked;
