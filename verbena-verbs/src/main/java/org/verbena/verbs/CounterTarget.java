// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** What can be counted: an object of this process, or one of another process. */
public sealed interface CounterTarget permits VerbsObject, RemoteObject {
    /** What the object is called in messages. */
    default String describe() {
        return toString();
    }
}
