// SPDX-License-Identifier: Apache-2.0
/** Which transport a socket uses: the rules of libvma.conf's grammar, and whether a thread's sockets are offloaded at all. */
package org.verbena.sockets.rules;
