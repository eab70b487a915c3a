// SPDX-License-Identifier: Apache-2.0
/** {@code verbena doctor}: what this machine allows, and what to change. */
@NullMarked
package org.verbena.cli.doctor;

import org.jspecify.annotations.NullMarked;
