// SPDX-License-Identifier: Apache-2.0
/**
 * The headers of packets, each with checks and accessors that read memory where it is, and a value for messages and tests. Who reads a
 * header has checked it; a check that passed holds for as long as the memory does not change.
 */
package org.verbena.stack.header;
