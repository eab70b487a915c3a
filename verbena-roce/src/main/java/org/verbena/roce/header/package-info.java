// SPDX-License-Identifier: Apache-2.0
/**
 * The headers of packets, one class each, read and written by address: no object for a packet (IBTA volume 1, 9.2 to 9.6).
 */
package org.verbena.roce.header;
