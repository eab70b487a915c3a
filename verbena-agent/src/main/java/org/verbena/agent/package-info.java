// SPDX-License-Identifier: Apache-2.0
/** The agent that gives an unchanged program Verbena's sockets. */
@org.jspecify.annotations.NullMarked
package org.verbena.agent;
