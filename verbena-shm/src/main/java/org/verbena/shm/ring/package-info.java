// SPDX-License-Identifier: Apache-2.0
/**
 * What goes from one context to another through memory that one side writes: lanes and inboxes of completions, and the
 * doorbells that wake who sleeps.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.ring;
