// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/**
 * A message of {@link Control} between two ends: 48 bytes in the machine's byte order, little-endian. Drawn in docs/erm.md,
 * too.
 *
 * <pre>
 * 0 type int, 4 id int, 8 address long, 16 length long, 24 key int, 28 access int, 32 tag long, 40 errno int, 44 int 0
 * </pre>
 */
final class ControlLayout {
    static final int TYPE = 0;
    static final int ID = 4;
    static final int ADDRESS = 8;
    static final int LENGTH = 16;
    static final int KEY = 24;
    static final int ACCESS = 28;
    static final int TAG = 32;
    static final int ERRNO = 40;
    static final int RESERVED = 44;
    static final int BYTES = 48;

    private ControlLayout() {}
}
