// SPDX-License-Identifier: Apache-2.0
/** What stacks publish in the counter file: the meaning of their entries. */
package org.verbena.stack.telemetry;
