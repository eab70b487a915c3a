// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/**
 * The message of a {@link RemoteCompletion}: 40 bytes in the machine's byte order, little-endian. Drawn in docs/erm.md, too.
 *
 * <pre>
 * 0 id int, 4 kind int, 8 offset long, 16 length long, 24 user data long, 32 consumed int, 36 int 0
 * </pre>
 */
final class CompletionLayout {
    static final int ID = 0;
    static final int KIND = 4;
    static final int OFFSET = 8;
    static final int LENGTH = 16;
    static final int USER_DATA = 24;
    static final int CONSUMED = 32;
    static final int RESERVED = 36;
    static final int BYTES = 40;

    private CompletionLayout() {}
}
