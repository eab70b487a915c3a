// SPDX-License-Identifier: Apache-2.0
/** The agent that gives a program Verbena's sockets without a change to it. */
@org.jspecify.annotations.NullMarked
package org.verbena.agent;
