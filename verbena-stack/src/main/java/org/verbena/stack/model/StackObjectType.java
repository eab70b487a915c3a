// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.model;

/** Kinds of what belongs to stacks among the objects that a process shows: beside those of {@code org.verbena.verbs.ObjectType}. */
public final class StackObjectType {
    /** A {@code Stack}. */
    public static final int STACK = 15;
    /** A connection of TCP, also one that the program has closed and TCP has not. */
    public static final int TCP = 16;
    /** A {@code TcpServer}. */
    public static final int TCP_LISTENER = 17;
    /** A {@code UdpSocket}. */
    public static final int UDP = 18;

    private StackObjectType() {}
}
