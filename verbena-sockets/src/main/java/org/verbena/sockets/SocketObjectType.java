// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

/** Kinds of what belongs to sockets among the objects that a process shows: beside those of {@code org.verbena.verbs.ObjectType}. */
public final class SocketObjectType {
    /** The sockets of a process, all of them. */
    public static final int SOCKETS = 8;
    /** A connected socket, or one that is about to be. */
    public static final int CONNECTION = 9;
    /** A socket that listens. */
    public static final int LISTENER = 10;
    /** A rule that decides what sockets use. */
    public static final int RULE = 11;
    /** A counter that rules name. */
    public static final int RULE_COUNTER = 12;

    private SocketObjectType() {}
}
