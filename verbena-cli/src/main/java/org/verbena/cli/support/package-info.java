// SPDX-License-Identifier: Apache-2.0
/** What several commands share: exit codes, sizes and addresses as people write them, the devices that are open, the terminal. */
@NullMarked
package org.verbena.cli.support;

import org.jspecify.annotations.NullMarked;
