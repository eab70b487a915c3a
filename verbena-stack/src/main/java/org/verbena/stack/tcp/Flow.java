// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** What segments between two ports go to. */
sealed interface Flow permits Connection, TimeWait {}
