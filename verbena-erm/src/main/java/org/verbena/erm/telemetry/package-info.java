// SPDX-License-Identifier: Apache-2.0
/** What the entries of remote memory in a counter file mean. */
package org.verbena.erm.telemetry;
