/** Netty's NIO transport. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps.netty;
