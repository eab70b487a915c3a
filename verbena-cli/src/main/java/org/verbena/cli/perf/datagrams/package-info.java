// SPDX-License-Identifier: Apache-2.0
/**
 * The tests of messages that can be lost: datagrams of the kernel, raw packets, and the two network namespaces in
 * which these are measured.
 */
@NullMarked
package org.verbena.cli.perf.datagrams;

import org.jspecify.annotations.NullMarked;
