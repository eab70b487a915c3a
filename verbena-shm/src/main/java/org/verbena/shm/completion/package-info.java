// SPDX-License-Identifier: Apache-2.0
/**
 * Completions on their way to a completion queue: its cursor, the sources without a lane, the marks by which many
 * queue pairs are polled, and moderation of events.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.completion;
