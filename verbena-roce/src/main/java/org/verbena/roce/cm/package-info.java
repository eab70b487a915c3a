// SPDX-License-Identifier: Apache-2.0
/**
 * Connection management (IBTA volume 1, chapter 12): messages of 256 bytes between queue pairs 1, by which two ends agree on
 * a connection and end it.
 *
 * <p>{@link org.verbena.roce.cm.CmAgent} is a pure state machine: messages and time come and go by
 * {@link org.verbena.roce.cm.CmTransport}, so its tests run in virtual time over a transport that loses, duplicates and reorders.
 * All of an agent runs under one lock, which the caller holds. Nothing that a peer sent is trusted; what a flood of requests
 * can take is limited.
 */
package org.verbena.roce.cm;
