// SPDX-License-Identifier: Apache-2.0
/**
 * Code that several commands share: exit codes, sizes and addresses in the form that people write, open devices, the
 * terminal.
 */
@NullMarked
package org.verbena.cli.support;

import org.jspecify.annotations.NullMarked;
