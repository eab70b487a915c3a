// SPDX-License-Identifier: Apache-2.0
/** What sockets publish in the counter file and the Flight Recorder: the meaning of their entries, and their events. */
package org.verbena.sockets.telemetry;
