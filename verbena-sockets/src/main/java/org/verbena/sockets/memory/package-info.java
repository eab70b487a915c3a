// SPDX-License-Identifier: Apache-2.0
/** What the program gives an operation to read or to write, and how it is kept until the operation ends. */
package org.verbena.sockets.memory;
