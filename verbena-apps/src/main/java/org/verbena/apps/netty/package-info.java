// SPDX-License-Identifier: Apache-2.0
/** Netty's NIO transport. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps.netty;
