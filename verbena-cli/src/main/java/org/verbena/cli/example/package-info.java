// SPDX-License-Identifier: Apache-2.0
/** {@code verbena example}: the example programs, with the options that each needs. */
@NullMarked
package org.verbena.cli.example;

import org.jspecify.annotations.NullMarked;
