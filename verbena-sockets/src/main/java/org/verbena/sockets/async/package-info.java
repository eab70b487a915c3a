// SPDX-License-Identifier: Apache-2.0
/** Asynchronous channels and their groups, over the channels and the selector of this module. */
@org.jspecify.annotations.NullMarked
package org.verbena.sockets.async;
