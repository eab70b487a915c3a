// SPDX-License-Identifier: Apache-2.0
/**
 * Connection management (IBTA volume 1, chapter 12): messages of 256 bytes between queue pairs 1, by which two ends
 * establish a connection and end it.
 *
 * <p>{@link org.verbena.roce.cm.CmAgent} is a pure state machine: messages and time go through
 * {@link org.verbena.roce.cm.CmTransport}, so its tests run in virtual time over a transport that loses, duplicates and
 * reorders. Everything of an agent runs under one lock, which the caller holds. Data from a peer are not trusted; the
 * resources for a flood of requests are limited.
 */
package org.verbena.roce.cm;
