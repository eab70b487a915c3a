// SPDX-License-Identifier: Apache-2.0
/** What is taken of the JDK's own classes beyond what they export. */
@NullMarked
package org.verbena.sockets.jdk;

import org.jspecify.annotations.NullMarked;
