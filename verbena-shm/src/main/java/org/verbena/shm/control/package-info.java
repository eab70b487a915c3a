// SPDX-License-Identifier: Apache-2.0
/**
 * Sessions: how contexts find each other, their handshake, the control socket and its messages, and the far end of a connected queue
 * pair. Other packages extend a session by a {@link org.verbena.shm.control.SessionPart}.
 *
 * <p>What is public here is so for the other packages of this module only, which exports nothing.
 */
package org.verbena.shm.control;
