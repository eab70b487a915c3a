// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

/** One line of a script: when, and what. */
public record Event(int line, When when, Action action) {}
