// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.model;

/**
 * What a capture has come to.
 *
 * @param frames that are in the file, or are about to be
 * @param lost frames that are not, since the file could not be written
 * @param problem why it could not; empty if it could
 */
public record CaptureStatistics(long frames, long lost, String problem) {}
