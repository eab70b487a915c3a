// SPDX-License-Identifier: Apache-2.0
/** What the entries of verbs objects in a counter file mean. */
package org.verbena.verbs.telemetry;
