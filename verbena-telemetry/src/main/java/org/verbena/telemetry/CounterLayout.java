// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

/**
 * Layout of a counter file: what a process shows of its objects. The process writes it, others of the same user
 * read it. Little-endian; offsets in bytes.
 *
 * <pre>
 * 0       header, 4096 bytes
 *    0    magic, 8 int version, 12 int bytes of a chunk
 *   16    process id, 24 time of creation, ns since 1970
 *   32    chunks in use; the file is at least as long
 *   40    gatherings begun, 48 ended: how often what peers count has been gathered, see {@link CounterFile}
 *   56    int length and bytes of the name of the doorbell that asks for it
 *  256    int length and bytes of the command line
 * 4096    chunks of {@value #CHUNK} bytes
 *    0    int bytes of an entry; entries of that size follow, the first at that offset
 *
 * entry
 *    0    sequence: odd while the entry is an object's; each change of owner adds 1
 *    8    int type, 12 int number, 16 int state, 24 entry of its context (an offset in the file)
 *   32    cells that are counted, a bit each
 *   40    changes of the cells of others that add up with these, odd while one goes on
 *   48    time of creation, ns since 1970
 *   64    attributes, 8 longs
 *  128    int length and up to 60 bytes of the name
 *  192    cells, longs: {@value #LARGE_CELLS} or {@value #SMALL_CELLS}
 * </pre>
 */
public final class CounterLayout {
    /** Of the file. */
    public static final long MAGIC = 0x3154_4e43_5342_4556L; // "VEBSCNT1"
    /** Of this layout; another one is not read. */
    public static final int VERSION = 1;

    public static final long HEADER_MAGIC = 0;
    public static final long HEADER_VERSION = 8;
    public static final long HEADER_CHUNK = 12;
    public static final long HEADER_PID = 16;
    public static final long HEADER_CREATED = 24;
    public static final long HEADER_CHUNKS = 32;
    public static final long HEADER_GATHERINGS_BEGUN = 40;
    public static final long HEADER_GATHERINGS_ENDED = 48;
    public static final long HEADER_BELL = 56;
    public static final int MAX_BELL = 107;
    /** What the name of each doorbell begins with. */
    public static final String BELL_PREFIX = "verbena-counters-";
    public static final long HEADER_COMMAND = 256;
    public static final int MAX_COMMAND = 2048;
    public static final int HEADER = 4096;

    public static final int CHUNK = 64 << 10;
    /** Most chunks in a file; what needs more is counted in memory of the process's own. */
    public static final int MAX_CHUNKS = 4096;
    public static final int LARGE_ENTRY = 1024;
    public static final int SMALL_ENTRY = 512;

    public static final long SEQUENCE = 0;
    public static final long TYPE = 8;
    public static final long NUMBER = 12;
    public static final long STATE = 16;
    public static final long CONTEXT = 24;
    public static final long COUNTED = 32;
    public static final long CHANGES = 40;
    public static final long CREATED = 48;
    public static final long ATTRIBUTES = 64;
    public static final int MAX_ATTRIBUTES = 8;
    public static final long NAME = 128;
    public static final int MAX_NAME = 60;
    public static final long CELLS = 192;
    /** Cells of an entry of a {@linkplain ObjectKind#isLarge large} kind. */
    public static final int LARGE_CELLS = 64;
    /** Cells of any other entry. */
    public static final int SMALL_CELLS = 32;

    private CounterLayout() {}

    /** Offset of a chunk in the file. */
    public static long chunk(int index) {
        return HEADER + (long) index * CHUNK;
    }
}
