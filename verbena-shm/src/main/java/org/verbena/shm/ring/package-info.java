// SPDX-License-Identifier: Apache-2.0
/**
 * Communication between contexts through memory that one side writes: lanes and inboxes of completions, and
 * doorbells.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.ring;
