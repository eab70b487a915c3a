// SPDX-License-Identifier: Apache-2.0
/** Where frames come from and go to: a queue pair for raw packets, or in tests a wire in virtual time. Used by one thread at a time. */
package org.verbena.stack.wire;
