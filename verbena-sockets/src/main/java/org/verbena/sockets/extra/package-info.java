// SPDX-License-Identifier: Apache-2.0
/**
 * The Extra API: what VMA's {@code vma_extra.h} adds to sockets, for Java. {@link org.verbena.sockets.Verbena#extraApi} has it where
 * Verbena carries the process. Types only, no implementation: packages below implement them.
 */
package org.verbena.sockets.extra;
